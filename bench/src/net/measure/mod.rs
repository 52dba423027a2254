//! The parent's side: one repetition of one case, with one peer's server.
//!
//! The server runs on the last processors, as many as it has workers, the load on the first
//! one: with two processors and one worker they are apart, with two workers they share. `server`
//! starts and ends a server, `calls` counts what it asks of the system. `tail` has the cases of
//! tails, in which a load on two workers may use both processors as well.

mod calls;
mod case;
mod server;
mod tail;

pub use case::measure;

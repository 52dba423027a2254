//! The parent's side: one repetition of one case, with one peer's server.
//!
//! The server runs on the last processors, one for each worker, the load on the first one: with two
//! processors and one worker they are separate, with two workers they share. `server` starts and
//! ends a server, `calls` counts its system calls. In the cases of tails, the load on a server with
//! two workers may use both processors as well.

mod calls;
mod case;
mod server;

pub use case::measure;

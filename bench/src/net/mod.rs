//! Servers and a load on them: TCP echo, HTTP, and connections that only wait.
//!
//! * `server` holds one server for each peer, each a child of its own: a fiber, task,
//!   goroutine or thread for each connection.
//! * `load` is one program for all of them: it asks, checks every byte that comes back and
//!   takes the time.
//! * `measure` is the parent: it starts a server and a load on it, for one repetition of one
//!   case, and makes one answer of what they say.
//! * `cost` has the rules for requests for which the server computes.
//! * `poll` and `limits` are what both sides need of the kernel.
//!
//! A server that answers wrongly has no figures: its load fails, and so does the peer.

mod cost;
mod limits;
mod load;
mod measure;
mod poll;
mod server;

pub use load::{Failure, Load, Report, Until, load, load_child};
pub use measure::measure;
pub use server::{serve_child, serves};

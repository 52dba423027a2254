//! Servers and a load on them: TCP echo, HTTP, and connections that only wait.
//!
//! * `server` holds one server for each peer, each a child of its own: a fiber, task,
//!   goroutine or thread for each connection.
//! * `load` is one program for all of them: it sends requests, checks every byte of the answers and
//!   measures latencies.
//! * `measure` is the parent: it starts a server and a load on it, for one repetition of one case,
//!   and combines their results.
//! * `cost` has the rules for costly requests.
//! * `poll` is the kernel interface of both sides.
//!
//! A server that answers wrongly has no figures: its load fails, and so does the peer.

mod cost;
mod load;
mod measure;
mod poll;
mod server;

pub use load::load_child;
pub use measure::measure;
pub use server::{serve_child, serves};

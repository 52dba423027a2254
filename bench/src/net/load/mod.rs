//! The load: sends requests to a server on this machine, on one thread, and checks all answers.
//!
//! * `options` are the settings, `drive` is the loop: connects, then polls its epoll set.
//! * `connection` is one connection: its due requests, and the awaited answers.
//! * `dialect` defines the requests and the correct answers.
//! * `tally` counts and records latencies.
//!
//! The first wrong byte, missing answer or closed connection ends the whole load with an error that
//! names it: there are no figures beside an error.

mod connection;
mod dialect;
mod drive;
mod options;
mod tally;
#[cfg(test)]
mod tests;

pub(in crate::net) use dialect::BODY;
pub use options::load_child;

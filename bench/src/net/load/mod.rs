//! The load: asks a server on this machine, on one thread, and checks all that it says.
//!
//! * `options` says what to do, `drive` does it: connects, then goes round its epoll set.
//! * `connection` is one connection: what it still may ask, what it waits for.
//! * `dialect` knows what is asked and what a right answer is.
//! * `tally` counts and takes times; `clock` reads the server's processor time; `memory`
//!   what it holds.
//!
//! The first wrong byte, missing answer or closed connection ends the whole load with a
//! [`Failure`] that names it: there are no figures beside an error.

mod clock;
mod connection;
mod dialect;
mod drive;
mod failure;
mod hold;
mod memory;
mod options;
mod tally;
#[cfg(test)]
mod tests;

pub(in crate::net) use dialect::BODY;
pub use drive::load;
pub use failure::Failure;
pub use options::{Load, Until, load_child};
pub use tally::Report;

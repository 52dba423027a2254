//! The cases of `case::talk`, in which fibers or threads wait for one another or for the clock.
//!
//! Most libraries here have blocking channels with the same interface. For them each case is
//! written once, in `blocking`, over a `Channel` and a `Home` that starts senders and receivers:
//! only the library differs. The `async` ones have their own code. Every case checks its messages:
//! a lost or duplicated one ends the child with a panic.

mod blocking;
mod channel;
pub(super) mod crossbeam;
pub(super) mod flume;
mod home;
pub(super) mod kanal;
pub(super) mod may;
pub(super) mod pirn;
mod sleepers;
pub(super) mod smol;
mod stock;
pub(super) mod threads;
pub(super) mod tokio;

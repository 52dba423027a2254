//! The cases of `case::talk`, in which parties wait for one another or for the clock.
//!
//! Most libraries here have blocking channels of the same shape. For them each case is
//! written once, in `blocking`, over a `Channel` and a `Home` that starts the parties: what
//! differs is the library alone. The `async` ones write theirs out. Every case checks what
//! arrived: a message that is lost or comes twice ends the child with a panic.

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

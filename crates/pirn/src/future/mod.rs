//! Futures: fibers wait for them, and they wait for fibers.
//!
//! * [`wait()`] and [`block_on`] poll a future on the fiber or thread that calls, which parks
//!   between polls.
//! * [`fiber()`] is a future that runs a closure on a fiber; a [`JoinHandle`](crate::JoinHandle) is a
//!   future of the fiber's end; [`send_async`](crate::channel::Sender::send_async) and
//!   [`recv_async`](crate::channel::Receiver::recv_async) are futures of channels, and the receivers of the
//!   other kinds have such futures too. Anything that polls can poll them.
//! * [`sleep()`] is a future of a moment: whoever polls it wakes up in time.
//! * With the feature `futures`, `Receiver::into_stream` makes a channel a stream, and the streams of
//!   [`net`](crate::net) are those of `futures-io`.
//! * With the feature `hyper`, `hyper` has an executor, timers and streams for the crate of that name.
//! * With the feature `tokio`, `tokio::compat` has a future find tokio's context at each poll.
//!
//! # Inside a poll
//!
//! A poll must not wait: what polls it has other things to do. On a fiber, a function of this library that
//! would have to wait inside a poll (of [`wait()`] or [`block_on`]) panics instead, and so do
//! those that wait for what borrows ([`scope`](crate::scope()), [`blocking()`](crate::blocking())),
//! whether they would have to or not. What need not wait works: a `try_` function, a lock that is free, a send
//! into a buffer with room. A plain thread is blocked, as by any call that blocks.
//!
//! Owns: the step from a future to whoever waits for it. Does not own: wakers (`wait::alarm`), nor
//! what forbids waiting (`wait::polling`).

mod drive;
mod fiber;
#[cfg(all(feature = "hyper", not(any(loom, shuttle))))]
#[expect(unsafe_code, reason = "says how much of a buffer is filled")]
pub mod hyper;
mod sleep;
#[cfg(all(feature = "tokio", not(any(loom, shuttle))))]
#[expect(unsafe_code, reason = "what is pinned is pinned in its parts")]
pub mod tokio;

pub use drive::{block_on, wait};
pub use fiber::{FiberFuture, fiber};
pub use sleep::{Sleep, sleep, sleep_until};

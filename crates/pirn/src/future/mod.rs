//! Futures: fibers wait for them, and they wait for fibers.
//!
//! * [`wait()`] and [`block_on`] poll a future on the calling fiber or thread, which parks between
//!   polls.
//! * [`fiber()`] is a future that runs a closure on a fiber. A [`JoinHandle`](crate::JoinHandle) is
//!   a future of the fiber's end. [`send_async`](crate::channel::Sender::send_async) and
//!   [`recv_async`](crate::channel::Receiver::recv_async) are futures of channels, and the
//!   receivers of the other kinds have such futures too. Any executor can poll them.
//! * [`sleep()`] is a future of a point in time.
//! * With the feature `futures`, `Receiver::into_stream` makes a channel a stream, and the streams
//!   of [`net`](crate::net) implement the traits of `futures-io`.
//! * With the feature `hyper`, `hyper` has an executor, timers and streams for the crate of that
//!   name.
//! * With the feature `tokio`, `tokio::compat` polls a future in tokio's context.
//!
//! # Inside a poll
//!
//! A poll must not wait, because its executor has other work. On a fiber, a function of this
//! library that would have to wait inside a poll (of [`wait()`] or [`block_on`]) panics instead.
//! Functions that wait for borrowing code ([`scope`](crate::scope()),
//! [`blocking()`](crate::blocking())), [`Barrier::wait`](crate::sync::Barrier::wait) and
//! [`WaitGroup::wait`](crate::sync::WaitGroup::wait) always panic there. Calls that need not wait
//! work: a `try_` function of a channel or lock, a free lock, a send into a buffer with room. A
//! plain thread is blocked, as by any blocking call.
//!
//! A waker that this library calls must not wait, on any thread: other wakes are still due. Such a
//! wait panics, and the panic ends that call of the waker.

// Owns: driving a future on the waiting fiber or thread. Does not own: wakers (`wait::poll_waker`),
// nor the ban on waiting (`wait::polling`).

mod drive;
mod fiber;
#[cfg(all(feature = "hyper", not(pirn_modelled)))]
#[expect(unsafe_code, reason = "fills memory that is not initialized")]
pub mod hyper;
mod sleep;
#[cfg(all(feature = "tokio", not(pirn_modelled)))]
pub mod tokio;

pub use drive::{block_on, wait};
pub use fiber::{FiberFuture, fiber};
pub use sleep::{Sleep, sleep, sleep_until};

//! Channels: values from many senders to many receivers, fibers and threads in any mix.
//!
//! A bounded channel holds up to a fixed number of values; one of capacity 0 holds none and
//! hands each value from sender to receiver directly. Both ends can be cloned. Values arrive in the
//! order in which they were sent, each at exactly one receiver. The table has the channels that
//! differ from this.
//!
//! No scope or cancellation ends a channel. It ends by [`close`](Sender::close), or
//! when the last sender or the last receiver is dropped. A [`broadcast`] or [`watch`] channel
//! without receivers continues with the next `subscribe`.
//!
//! | opened by | keeps | a value goes to |
//! |---|---|---|
//! | [`bounded`], [`unbounded`] | up to `capacity` values, any number | one receiver |
//! | [`oneshot::channel`] | one value | the only receiver |
//! | [`watch::channel`] | the latest value | all receivers |
//! | [`broadcast::channel`] | the last values | all receivers |
//! | [`ordered()`] | results of fibers, in the order of submission | one receiver |
//! | [`after`], [`tick`], [`never()`] | a moment, when it is due | one receiver |
//!
//! A receive or send that waits parks a fiber and blocks a plain thread. Inside the
//! [poll](crate::future#inside-a-poll) of a future on a fiber it panics; the methods ending in
//! `_async` return futures for that; for other calls there is
//! [`future::fiber`](crate::future::fiber()). [`select!`](crate::select!) waits for several
//! channels.
//!
//! # Examples
//! ```
//! let (tx, rx) = pirn::channel::bounded(2);
//! let sender = pirn::spawn(move || {
//!     for word in ["one", "two", "three"] {
//!         tx.send(word).unwrap(); // waits while two values are in the channel
//!     }
//! });
//! assert_eq!(rx.iter().collect::<Vec<_>>(), ["one", "two", "three"]);
//! sender.join().unwrap();
//! ```

// Owns: buffers, hand-over and the end of a channel (`bounded`), and the public types. Does not
// own: waiting (`wait`). No code here uses run queues.

pub mod broadcast;
mod buffer;
mod case;
mod clock;
mod closing;
mod error;
mod futures;
mod iter;
pub mod oneshot;
mod open;
mod ordered;
mod receiver;
mod receiving;
mod recv_batch;
mod sender;
mod sending;
mod shared;
mod state;
#[cfg(feature = "futures")]
mod stream;
// The value is protected by a lock of `sync`, which does not exist in parts of the library.
#[cfg(not(pirn_parts))]
pub mod watch;

pub use case::{ReadyCase, RecvCase, SendCase};
pub use clock::{after, never, tick};
pub use closing::ClosedCase;
pub use error::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
pub use futures::{RecvFuture, SendFuture};
pub use iter::{IntoIter, Iter, TryIter};
pub use open::{bounded, unbounded};
pub use ordered::{OrderedSender, ordered};
pub use receiver::{Receiver, WeakReceiver};
pub use sender::{Sender, WeakSender};
#[cfg(feature = "futures")]
pub use stream::RecvStream;

#[cfg(test)]
mod tests;

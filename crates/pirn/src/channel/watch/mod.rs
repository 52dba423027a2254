//! A channel that holds one value and notifies receivers when it changes.
//!
//! The channel holds only the latest value. A receiver reads it at any time, and can wait for it to
//! change. Earlier values are not kept.
//!
//! # Examples
//! ```
//! use pirn::channel::watch;
//!
//! let (tx, mut rx) = watch::channel(1);
//! assert_eq!(*rx.borrow(), 1);
//! let changer = pirn::spawn(move || {
//!     tx.send(2).unwrap();
//!     tx.modify(|value| *value += 1);
//! });
//! while *rx.borrow() != 3 {
//!     rx.changed().unwrap();
//! }
//! changer.join().unwrap();
//! while rx.changed().is_ok() {} // until the last change has been seen
//! assert_eq!(*rx.borrow(), 3);
//! ```

mod board;
mod case;
mod future;
mod receiver;
mod sender;

pub use case::ChangedCase;
pub use future::ChangedFuture;
pub use receiver::{Receiver, Ref};
pub use sender::{Sender, channel};

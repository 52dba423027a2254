//! A channel on which every receiver gets every value.
//!
//! The channel keeps the last values, up to its capacity, for receivers that lag. A sender never
//! waits for receivers. A receiver that has missed values gets their number as an error, and
//! continues with the oldest value that is still kept. A value is dropped when all receivers that
//! existed when it was sent have received it, or when it is evicted.
//!
//! # Examples
//! ```
//! use pirn::channel::broadcast::{self, RecvError};
//!
//! let (tx, mut one) = broadcast::channel(2);
//! let mut other = tx.subscribe();
//! (1..=3).for_each(|i| assert_eq!(tx.send(i), Ok(2)));
//! assert_eq!(one.recv(), Err(RecvError::Lagged(1)));
//! assert_eq!((one.recv(), one.recv()), (Ok(2), Ok(3)));
//! drop(tx);
//! assert_eq!(one.recv(), Err(RecvError::Disconnected));
//! assert_eq!(other.recv(), Err(RecvError::Lagged(1)));
//! ```

mod buffer;
mod case;
mod error;
mod future;
mod receiver;
mod sender;

pub use case::RecvCase;
pub use error::{RecvError, RecvTimeoutError, TryRecvError};
pub use future::RecvFuture;
pub use receiver::Receiver;
pub use sender::{Sender, WeakSender, channel};

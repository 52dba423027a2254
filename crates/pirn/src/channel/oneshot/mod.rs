//! A channel for one value, such as a reply or the result of work that runs elsewhere.
//!
//! It is cheaper than a bounded channel of capacity 1: one allocation. The types ensure that there
//! is one sender, one receiver and one value.
//!
//! # Examples
//! ```
//! use pirn::channel::{RecvError, oneshot};
//!
//! let (tx, rx) = oneshot::channel();
//! pirn::spawn(move || tx.send(6 * 7).unwrap());
//! assert_eq!(rx.recv(), Ok(42));
//!
//! let (tx, rx) = oneshot::channel::<u32>();
//! drop(tx);
//! assert_eq!(rx.recv(), Err(RecvError::Disconnected));
//! ```

mod case;
mod future;
mod receiver;
mod sender;
mod slot;

pub use case::RecvCase;
pub use future::RecvFuture;
pub use receiver::Receiver;
pub use sender::{Sender, channel};

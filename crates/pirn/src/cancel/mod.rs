//! Cancellation: tokens, deadlines, and code that neither interrupts.
//!
//! A [`Token`] is a node of a tree: cancelling it cancels all its descendants. The code of a fiber
//! runs under the token of the scope in which it was spawned, or of the innermost [`Token::enter`].
//! All code on a runtime also runs under the runtime's token
//! ([`Handle::token`](crate::runtime::Handle::token)). Deadlines ([`with_deadline`],
//! [`timeout`](crate::timeout)) apply in addition. [`shield()`] suspends both for code that must
//! finish.
//!
//! An interrupt makes a waiting call return [`Interrupt`] in its error. No code is ever unwound or
//! stopped in the middle.
//!
//! # Examples
//! ```
//! use pirn::cancel::Token;
//!
//! let (_tx, rx) = pirn::channel::bounded::<u32>(1);
//! let token = Token::new();
//! let stop = token.clone();
//! let reader = pirn::spawn(move || token.enter(|| rx.iter().count()));
//! stop.cancel(); // ends the iteration
//! assert_eq!(reader.join().unwrap(), 0);
//! ```

mod case;
mod deadline;
mod shield;
mod token;

pub use crate::wait::Interrupt;
pub use case::CancelCase;
pub use deadline::{check, deadline, reason, with_deadline};
pub use shield::shield;
pub use token::{Registration, Token};

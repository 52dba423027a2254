//! Cancellation: being interrupted, by whom, and by when.
//!
//! A [`Token`] is what cancels, and tokens form a tree: cancelling one cancels all that are
//! below it. A fiber's code is under the token of the scope that it was spawned in, or of the
//! innermost [`Token::enter`]; and everything that runs is under its runtime's
//! ([`Handle::token`](crate::runtime::Handle::token)). Deadlines ([`with_deadline`],
//! [`timeout`](crate::timeout)) hold beside it, and [`shield()`] keeps both away from a piece of
//! code that has to come to its end.
//!
//! To be interrupted is to have a waiting call return [`Interrupt`] in its error; nothing is
//! ever unwound or stopped in the middle.

#[expect(unsafe_code, reason = "the contract of a case")]
mod case;
mod deadline;
mod shield;
#[expect(unsafe_code, reason = "a reference to a token inside a region")]
mod token;

pub use crate::wait::Interrupt;
pub use case::CancelCase;
pub use deadline::{check, deadline, reason, with_deadline};
pub use shield::shield;
pub use token::{Registration, Token};

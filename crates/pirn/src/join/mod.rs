//! The end of a fiber as other parties see it: identifying the fiber, waiting for its end, taking
//! its outcome.

// Owns: the common part of all join handles. The handles themselves are where fibers are spawned
// (`spawn`, `scope`).

mod case;
mod error;
mod fiber;
#[expect(unsafe_code, reason = "takes a typed outcome out of an untyped header")]
mod joined;

pub use crate::fiber::FiberId;
pub(crate) use case::EndCase;
pub use case::JoinCase;
pub use error::{JoinError, Payload};
pub use fiber::Fiber;
pub(crate) use joined::Joined;

#[cfg(test)]
mod tests;

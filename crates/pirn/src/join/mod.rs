//! The end of a fiber as others see it: naming the fiber, waiting for its end, taking its
//! outcome.
//!
//! Owns what every kind of join handle shares. The handles themselves are where fibers are
//! spawned (`spawn`, `scope`).

mod error;
mod fiber;
#[expect(unsafe_code, reason = "takes a typed outcome out of an untyped header")]
mod joined;

pub use error::{JoinError, Payload};
pub use fiber::{Fiber, FiberId};
pub(crate) use joined::Joined;

#[cfg(test)]
mod tests;

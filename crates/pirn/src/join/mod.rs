//! A fiber as other parties see it: creating and identifying it, waiting for its end, taking its
//! outcome.

// Owns: the common part of all join handles. The handles themselves are where fibers are spawned
// (`spawn`, `scope`).

mod case;
mod error;
mod fiber;
#[expect(unsafe_code, reason = "gives an untyped header its types")]
mod joined;

pub use crate::fiber::FiberId;
pub use case::JoinCase;
pub use error::{JoinError, Payload};
pub use fiber::Fiber;
pub(crate) use joined::{
    AwaitedEnd, Fresh, Joined, call_on_fiber, wait_anywhere, wait_or,
};

#[cfg(test)]
mod tests;

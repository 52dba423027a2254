//! Fibers: spawning, joining, naming, parking them.

#[expect(unsafe_code, reason = "hands a closure to a fiber, and back")]
mod builder;
mod error;
mod handle;
#[expect(unsafe_code, reason = "takes a typed outcome out of an untyped header")]
mod join;

pub(crate) use builder::{publish, take_back};
pub(crate) use join::{Joined, deadline_in};

pub use builder::{Builder, spawn};
pub use error::{JoinError, Payload, Rejected, SpawnError};
pub use handle::{
    Fiber, FiberId, current, park, park_interruptible, park_timeout, yield_now,
};
pub use join::JoinHandle;

//! Fibers: spawning, joining, naming, parking them.

#[expect(unsafe_code, reason = "hands a closure to a fiber, and back")]
mod builder;
mod error;
mod itself;
#[expect(unsafe_code, reason = "the contract of an untyped header")]
mod join;

pub(crate) use builder::{Unqueued, spawn_at, take_back};

pub use crate::join::{Fiber, FiberId, JoinCase, JoinError, Payload};
pub use builder::{Builder, spawn};
pub use error::{Rejected, SpawnError};
pub use itself::{
    checkpoint, current, park, park_interruptible, park_timeout, yield_now,
};
pub use join::JoinHandle;

//! Fibers: spawning, joining, naming, parking them.
//!
//! [`spawn`] starts a fiber that inherits nothing and may not borrow; a [scope](mod@crate::scope)
//! has fibers that borrow. [`JoinHandle`] waits for the end of a fiber, and [`Fiber`] identifies
//! one.
//!
//! # Examples
//! ```
//! use pirn::spawn::Builder;
//!
//! let unnamed = pirn::spawn(|| 6 * 7);
//! let named = Builder::new().name("worker").spawn(|| pirn::current().name().is_some());
//! assert_eq!(unnamed.join().unwrap(), 42);
//! assert!(named.unwrap().join().unwrap());
//! ```

mod builder;
mod error;
mod itself;
mod join;

pub(crate) use builder::{Unqueued, spawn_at};

pub use crate::join::{Fiber, FiberId, JoinCase, JoinError, Payload};
pub use builder::{Builder, spawn};
pub use error::{Rejected, SpawnError};
pub use itself::{
    checkpoint, current, park, park_interruptible, park_timeout, yield_now,
};
pub use join::JoinHandle;

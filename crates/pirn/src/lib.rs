//! pirn: stackful fibers for Rust.

mod shim;

mod base;
mod context;
mod fiber;
mod sched;
mod sys;
mod timer;

pub mod blocking;
pub mod cancel;
pub mod channel;
pub mod diag;
pub mod runtime;
pub mod scope;
pub mod spawn;
pub mod sync;
pub mod time;
pub mod wait;

pub use blocking::blocking;
pub use fiber::FiberLocal;
pub use runtime::{Runtime, run};
pub use scope::scope;
pub use spawn::{JoinHandle, current, park, spawn, yield_now};
pub use time::sleep;
pub use wait::Interrupt;

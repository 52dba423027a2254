//! pirn: stackful fibers for Rust.

mod shim;
mod base;
mod sched;
mod sys;
mod timer;

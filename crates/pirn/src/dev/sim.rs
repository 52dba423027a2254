//! Runs of a strategy on a deterministic runtime, for the crate `pirn-sim`.

use std::time::Instant;

use crate::fiber::FiberId;
use crate::sched::deterministic::control;
use crate::wait::object::{Object, ObjectKind};

pub use crate::base::choice::{
    Choice, Choose, Fibers, Operation, Pick, Property, Rule, Step,
};
pub use crate::sched::deterministic::run::Ended;

/// Begins a run with `most` choices at most. The calling fiber is its runner: fibers that it spawns
/// from now on belong to the run.
///
/// # Panics
/// If the caller is not a fiber of a deterministic runtime, or has begun a run before.
pub fn begin(strategy: Box<dyn Choose>, most: u64) {
    control::begin(strategy, most);
}

/// Lets the strategy choose which fiber runs next, before an operation that other fibers notice.
/// `object` identifies its object; 0 if it has none. No effect outside of a run.
#[inline]
pub fn point(operation: Operation, object: usize) {
    crate::wait::point(operation, object);
}

/// Waits until nothing can happen any more in the run, or its choices are spent.
///
/// # Panics
/// If the caller is not the runner of a run.
#[must_use]
pub fn settle() -> Ended {
    control::settle()
}

/// Finishes the run, and returns its strategy. Fibers that are still ready never run again. Until
/// then, an ended run resumes only its runner.
///
/// # Panics
/// If there is no run.
pub fn finish() -> Box<dyn Choose> {
    control::finish()
}

/// Returns the fibers of the run by number: the identity of each, and its address as the object of
/// a [`Step`]. An address is used again after the end of its fiber.
///
/// # Panics
/// If there is no run.
#[must_use]
pub fn fibers() -> Vec<(FiberId, usize)> {
    control::fibers()
}

/// Returns the virtual time, also where no fiber runs: at a choice.
///
/// # Panics
/// If the caller is not on the worker of a deterministic runtime.
#[must_use]
pub fn now() -> Instant {
    control::now()
}

/// Returns the name that [`name_object`](crate::diag::name_object) has set for the object at
/// `address`.
#[must_use]
pub fn object_name(address: usize) -> Option<&'static str> {
    Object::new(ObjectKind::Busy, address).name
}

/// Returns the number of fibers of the caller's runtime that have not ended, the caller included.
///
/// # Panics
/// If the caller is not a fiber.
#[must_use]
pub fn live() -> u64 {
    control::live()
}

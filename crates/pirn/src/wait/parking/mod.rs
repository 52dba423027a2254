//! Parking and yielding: the step from a running fiber or thread to one that waits.

pub(crate) mod park;
pub(crate) mod spec;
mod spin;
mod stack_borrow;
#[expect(unsafe_code, reason = "suspends the running fiber and arms its timer")]
mod suspend;
pub(crate) mod yielding;

pub(crate) use spin::{may_spin, spin_before_park};
pub(crate) use stack_borrow::lend;

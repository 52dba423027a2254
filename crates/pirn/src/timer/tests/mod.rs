//! Tests of the wheel: against a sorted map, at the edges of its range, and timed.

mod edges;
mod random;
#[expect(unsafe_code, reason = "pins timers beside the wheel that links them")]
mod rig;
mod speed;

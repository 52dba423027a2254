//! Tests of the wheel: against a sorted map, at the edges of its range, and timed.

mod edges;
#[expect(unsafe_code, reason = "pins timers beside the wheel that links them")]
mod fixture;
mod random;
mod speed;

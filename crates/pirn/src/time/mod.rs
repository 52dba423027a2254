//! Time: the clock, and fibers that wait for it.

mod sleep;

pub use sleep::{now, sleep, sleep_until};

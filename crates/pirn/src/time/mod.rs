//! Time: the clock, fibers that wait for it, and limits to how long code may wait.

mod interval;
mod sleep;
mod timeout;

pub use interval::{Interval, MissedTick, interval};
pub use sleep::{now, sleep, sleep_until};
pub use timeout::{Elapsed, timeout};

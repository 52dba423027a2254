//! Time: the clock, sleeping, and limits on how long code may wait.

#[expect(unsafe_code, reason = "the contract of a case")]
mod case;
mod interval;
mod sleep;
#[expect(unsafe_code, reason = "the contract of a case")]
mod tick_case;
mod timeout;

#[doc(hidden)]
pub use case::after_case;
pub use case::{TimerCase, at};
pub use interval::{Interval, MissedTick, interval};
pub use sleep::{now, sleep, sleep_until};
pub use tick_case::TickCase;
pub use timeout::{Elapsed, timeout};

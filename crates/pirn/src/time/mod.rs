//! Time: the clock ([`now`]), sleeping ([`sleep()`]), periodic ticks ([`interval()`]), and limits
//! on how long code may wait ([`timeout()`]).
//!
//! Moments are values of [`std::time::Instant`], on the monotonic clock, and limits are values of
//! [`std::time::Duration`]. In a [deterministic runtime](crate::runtime::test) the clock is
//! virtual. So compare only with moments of [`now`], not with those of `Instant::now`. See
//! [the guide](crate::guide::time).

mod case;
mod interval;
mod sleep;
mod tick_case;
mod timeout;

#[doc(hidden)]
pub use case::after_case;
pub use case::{TimerCase, at};
pub use interval::{Interval, MissedTick, interval};
pub use sleep::{now, sleep, sleep_until};
pub use tick_case::TickCase;
pub use timeout::{Elapsed, timeout};

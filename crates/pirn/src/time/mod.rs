//! Time: the clock, and fibers that wait for it.

#[expect(unsafe_code, reason = "the contract of a case")]
mod case;
mod sleep;

#[doc(hidden)]
pub use case::after_case;
pub use case::{TimerCase, at};
pub use sleep::{now, sleep, sleep_until};

//! Moments as plain numbers: nanoseconds since the process first read the clock.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::shim;

static ORIGIN: OnceLock<Instant> = OnceLock::new();

/// Returns `at` in nanoseconds; zero for moments before the origin.
#[inline]
pub(crate) fn nanos(at: Instant) -> u64 {
    let origin = *ORIGIN.get_or_init(shim::now);
    u64::try_from(at.saturating_duration_since(origin).as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the present moment in nanoseconds.
#[inline]
pub(crate) fn now() -> u64 {
    nanos(shim::now())
}

/// Returns the moment that is `nanos` after the origin; `None` if the clock cannot express it.
pub(crate) fn instant(nanos: u64) -> Option<Instant> {
    let origin = *ORIGIN.get_or_init(shim::now);
    origin.checked_add(Duration::from_nanos(nanos))
}

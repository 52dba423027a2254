//! The clock of a modelled run: a number that starts at zero with every execution and jumps
//! to a moment when a thread that waits for it gets to run.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A timeout of this length is meant as "for ever", and never passes.
const REMOTE: Duration = Duration::from_secs(60 * 60);

shuttle::lazy_static::lazy_static! {
    /// Nanoseconds that have passed in this execution.
    static ref PASSED: AtomicU64 = AtomicU64::new(0);
}

/// The present moment. Reading it is no scheduling point.
pub(crate) fn now() -> Instant {
    origin() + Duration::from_nanos(PASSED.load(Ordering::Relaxed))
}

/// Makes it `at`, unless it is later already.
pub(super) fn pass(at: Instant) {
    let nanos = at.saturating_duration_since(origin()).as_nanos() as u64;
    PASSED.fetch_max(nanos, Ordering::Relaxed);
}

/// Whether `at` is so far away that nobody waits to see it.
pub(super) fn is_remote(at: Instant) -> bool {
    at.saturating_duration_since(now()) >= REMOTE
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn origin() -> Instant {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    *ORIGIN.get_or_init(Instant::now)
}

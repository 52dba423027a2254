//! The clock of a modelled run: a number that starts at zero in every execution and jumps to a
//! moment when a thread that waits for it runs.
//!
//! For some threads of models it stands still, so that no time-out, nap or period hides a lost
//! wake: for threads with names that begin with [`TIMELESS`].

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::locals::LocalKey;

/// A timeout of this length means "indefinitely", and never passes. Arbitrary: longer than any
/// limit that the models set.
const REMOTE: Duration = Duration::from_secs(60 * 60);

/// The prefix of the names of threads for which no time passes.
const TIMELESS: &str = "timeless";

static STANDS_STILL: LocalKey<Cell<bool>> = LocalKey::new(|| Cell::new(false));

shuttle::lazy_static::lazy_static! {
    /// Nanoseconds that have passed in this execution.
    static ref PASSED: AtomicU64 = AtomicU64::new(0);
}

/// Returns the present moment. Not a scheduling point.
pub(crate) fn now() -> Instant {
    origin() + Duration::from_nanos(PASSED.load(Ordering::Relaxed))
}

/// Sets the clock to `at`, unless it is later already.
pub(super) fn pass(at: Instant) {
    let nanos = at.saturating_duration_since(origin()).as_nanos() as u64;
    PASSED.fetch_max(nanos, Ordering::Relaxed);
}

/// Returns whether a wait of the calling thread until `at` does not end by itself.
pub(super) fn never_comes(at: Instant) -> bool {
    STANDS_STILL.with(Cell::get) || at.saturating_duration_since(now()) >= REMOTE
}

/// Initializes a thread of this name; its first call.
pub(super) fn begin(name: &str) {
    STANDS_STILL.with(|stands| stands.set(name.starts_with(TIMELESS)));
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn origin() -> Instant {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    *ORIGIN.get_or_init(Instant::now)
}

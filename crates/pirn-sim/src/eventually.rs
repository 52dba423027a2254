//! Liveness: a condition that holds at some time.

use std::time::Duration;

use pirn::time;

/// Blocks until `condition` holds, for `limit` of the caller's time at most. It is evaluated again
/// and again; other fibers run meanwhile.
///
/// In a campaign time is virtual: it passes when no other fiber can run, so a limit of an hour
/// costs nothing.
///
/// # Panics
/// If `limit` has passed, or the caller is interrupted. With the panic of `condition`.
///
/// # Cancellation
/// An interruption point, which panics. Parks a fiber, blocks a plain thread.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use pirn::sync::Mutex;
///
/// pirn_sim::campaign().runs(20).check(|| {
///     let answers = Arc::new(Mutex::new(0));
///     for _ in 0..2 {
///         let answers = Arc::clone(&answers);
///         pirn::spawn(move || *answers.lock() += 1);
///     }
///     pirn_sim::eventually(Duration::from_secs(1), || *answers.lock() == 2);
/// });
/// ```
#[track_caller]
pub fn eventually(limit: Duration, mut condition: impl FnMut() -> bool) {
    let begun = time::now();
    let mut pause = FIRST_PAUSE;
    while !condition() {
        let passed = time::now().saturating_duration_since(begun);
        assert!(
            passed < limit,
            "eventually: the condition does not hold after {limit:?}"
        );
        let slept = time::sleep(pause.min(limit - passed));
        pause = (pause * 2).min(limit / 100).max(FIRST_PAUSE);
        if let Err(interrupt) = slept {
            panic!("eventually: {interrupt} before the condition held");
        }
    }
}

/// The time after the first evaluation. It doubles, up to a hundredth of the limit. Arbitrary: more
/// than a choice takes.
const FIRST_PAUSE: Duration = Duration::from_micros(50);

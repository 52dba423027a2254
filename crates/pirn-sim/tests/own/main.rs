//! Campaigns over the primitives of pirn itself: each body checks what the documentation promises,
//! in a thousand schedules.
//!
//! One file for each kind of primitive. Bodies are small, so that a thousand schedules are a large
//! share of all of them. In the files `drawn_…` the program is drawn too, from the seed of the run.
//! docs/models.md lists the seeded bugs that these campaigns find. Some leave out the choice before
//! one kind of operation: a build with seeded bugs has the tests of `it` that find those.
//!
//! Owns: the size of a campaign, and records without choices. Does not own: the search
//! (`pirn_sim`), tests that it works (`it`), programs of others (`goker`).
#![expect(
    clippy::disallowed_methods,
    reason = "records of plain threads: no choice is made while one is locked"
)]

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pirn::time;

mod channels;
mod dispatchers;
mod drawn;
mod drawn_channels;
mod drawn_ends;
mod drawn_kinds;
mod drawn_locks;
mod drawn_regions;
mod ends;
#[cfg(pirn_mutants)]
#[path = "../it/ends.rs"]
mod ends_of_fibers;
mod futures;
mod halves;
mod kinds;
mod limits;
mod locks;
mod meetings;
mod parallel;
mod permits;
#[cfg(pirn_mutants)]
#[path = "../it/points.rs"]
mod points;
mod scopes;
mod selects;
mod tokens;
mod waitables;

/// Runs `body` in a thousand schedules, or as many as begin within two seconds.
///
/// # Panics
/// If it fails in one of them.
#[track_caller]
pub(crate) fn check(body: impl Fn() + Send + Sync + 'static) {
    let campaign = pirn_sim::campaign();
    campaign
        .runs(1_000)
        .for_real(Duration::from_secs(2))
        .check(body);
}

/// A while of virtual time, longer than all choices of a body take together.
pub(crate) const MOMENT: Duration = Duration::from_millis(10);

/// Checks that so many moments have passed since `begun`, and less than half of one more.
///
/// # Panics
/// If not.
#[track_caller]
pub(crate) fn assert_passed(begun: Instant, moments: u32) {
    let passed = time::now() - begun;
    let expected = moments * MOMENT;
    assert!(
        (expected..expected + MOMENT / 2).contains(&passed),
        "{passed:?}"
    );
}

/// What happened, in order.
#[derive(Debug, Default)]
pub(crate) struct Log<T>(Mutex<Vec<T>>);

impl<T> Log<T> {
    pub(crate) fn new() -> Log<T> {
        Log(Mutex::new(Vec::new()))
    }

    pub(crate) fn add(&self, entry: T) {
        self.entries().push(entry);
    }

    /// Returns the entries, and forgets them.
    pub(crate) fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.entries())
    }

    /// The caller makes no choice while it has them.
    fn entries(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

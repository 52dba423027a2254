//! The token: at most one is pending, and a parked thread takes it. A token left while its owner
//! was awake makes the next `park` return at once.
//!
//! | from | by | to | how |
//! |---|---|---|---|
//! | EMPTY | `park` | PARKED | subtract one, then sleep while the word is PARKED |
//! | NOTIFIED | `park` | EMPTY | subtract one: the token is taken, no sleep |
//! | NOTIFIED | `park`, woken | EMPTY | compare-exchange |
//! | PARKED, NOTIFIED | `park_until`, at its deadline | EMPTY | swap |
//! | EMPTY, NOTIFIED | `unpark` | NOTIFIED | swap |
//! | PARKED | `unpark` | NOTIFIED | swap, then wake the sleeper |
//! | EMPTY | `sleep_in` | ELSEWHERE | compare-exchange, then the sleep that was given |
//! | any | `sleep_in`, after it | EMPTY | swap: a token that was there is taken |
//! | ELSEWHERE | `unpark_or` | NOTIFIED | swap, then the waking that was given |
//!
//! Only the owner parks; any thread unparks. A token may be left over from an earlier reason, so
//! the owner checks its condition again after each park.

use std::time::Instant;

use crate::base::mutant::mutant;
use crate::shim::atomic::{AtomicU32, Ordering};
use crate::sys::parker::thread_sleep::ThreadSleep;

/// Where one thread sleeps. Four bytes with a futex.
#[derive(Debug)]
pub(crate) struct Parker {
    /// EMPTY, PARKED, ELSEWHERE or NOTIFIED; see the table.
    word: AtomicU32,
    thread_sleep: ThreadSleep,
}

impl Parker {
    pub(crate) fn new() -> Self {
        Parker {
            word: AtomicU32::new(EMPTY),
            thread_sleep: ThreadSleep::new(),
        }
    }

    /// Sleeps until there is a token, and takes it.
    pub(crate) fn park(&self) {
        if self.lie_down() {
            return;
        }
        loop {
            self.thread_sleep.sleep(&self.word, PARKED, None);
            if self.take() {
                return;
            }
        }
    }

    /// Sleeps until there is a token or the deadline has passed.
    /// True: a token was taken. False: timed out.
    pub(crate) fn park_until(&self, deadline: Instant) -> bool {
        if self.lie_down() {
            return true;
        }
        loop {
            let in_time = self.thread_sleep.sleep(&self.word, PARKED, Some(deadline));
            if self.take() {
                return true;
            }
            if !in_time {
                // ORDERING: as in `take`: a token may have come since.
                return self.word.swap(EMPTY, Ordering::Acquire) == NOTIFIED;
            }
        }
    }

    /// Sleeps by `sleep` unless there is a token, and takes the token. Wakers must meanwhile use
    /// [`unpark_or`](Self::unpark_or), with a function that ends that sleep, or the next one.
    pub(crate) fn sleep_in(&self, sleep: impl FnOnce()) {
        // ORDERING: as in `lie_down` and `take`: Acquire wherever a token is taken.
        let empty = self.word.compare_exchange(
            EMPTY,
            ELSEWHERE,
            // ORDERING: Release pairs with the Acquire in `unpark_or`: the thread that ends the
            // sleep sees what the function that it calls needs.
            Ordering::Release,
            Ordering::Relaxed,
        );
        if empty.is_ok() || mutant!("parker_sleeps_over_token") {
            sleep();
        }
        self.word.swap(EMPTY, Ordering::Acquire);
    }

    /// Returns whether the owner sleeps and no token is there. Stale when it returns.
    pub(crate) fn is_parked(&self) -> bool {
        matches!(self.word.load(Ordering::Relaxed), PARKED | ELSEWHERE)
    }

    /// Leaves a token, and wakes the owner if it sleeps. Not for an owner in `sleep_in`.
    pub(crate) fn unpark(&self) {
        self.unpark_or(|| debug_assert!(false, "an owner that sleeps elsewhere"));
    }

    /// As [`unpark`](Self::unpark), for an owner that may be in [`sleep_in`](Self::sleep_in), which
    /// `wake` ends.
    pub(crate) fn unpark_or(&self, wake: impl FnOnce()) {
        if mutant!("parker_skip_if_notified")
            && self.word.load(Ordering::Relaxed) == NOTIFIED
        {
            return;
        }
        // ORDERING: Release pairs with the Acquire in `lie_down` and `take`. The swap is made even
        // if a token is there already: the owner that takes it must also see what was done before
        // this call. Acquire: see `sleep_in`.
        match self.word.swap(NOTIFIED, Ordering::AcqRel) {
            PARKED => self.thread_sleep.wake(&self.word),
            ELSEWHERE => wake(),
            _ => {}
        }
    }

    /// Subtracts one: NOTIFIED becomes EMPTY (true: the token is taken), EMPTY becomes PARKED.
    fn lie_down(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `unpark`.
        self.word.fetch_sub(1, Ordering::Acquire) == NOTIFIED
    }

    /// Changes NOTIFIED to EMPTY; false: there is no token, so the owner sleeps again.
    fn take(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `unpark`.
        self.word
            .compare_exchange(NOTIFIED, EMPTY, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }
}

const NOTIFIED: u32 = 1;
const EMPTY: u32 = 0;
/// One less than EMPTY, so that lying down is one subtraction.
const PARKED: u32 = u32::MAX;
const ELSEWHERE: u32 = u32::MAX - 1;

//! The waiters for one number of a descriptor, whatever it stands for: calls of libc.
//!
//! Owns: how a call waits for a number that any thread may close, and the count of its ends. Does
//! not own: the queues and the registration ([`Source`]), or the calls themselves (the crate
//! `pirn-hooks`).
//!
//! A descriptor belongs to the program. An *end* of its number is a close, or a replacement by
//! `dup2`; the number may stand for another object after that. So each wait rearms the registration
//! of the number, and a call makes no attempt after an end that was counted since it began.
//!
//! # A call
//! 1. Reads the count of ends, once, and the known readiness.
//! 2. Makes an attempt, which would have to wait.
//! 3. If the count has changed, fails. Else, if an end is under way, sleeps for a moment, and
//!    starts again with an attempt. Such an end was counted before step 1, or is about to be
//!    counted.
//! 4. Marks the source as not ready, moves it to the driver of its worker, counts itself, and
//!    rearms the registration. Registers nothing if the count of ends has changed.
//! 5. Joins the queue under its lock, unless the source is ready or the count has changed.
//! 6. Fails if the count has changed, else makes the next attempt.
//!
//! # An end
//! 1. Counts itself among those under way.
//! 2. Increments the count of ends.
//! 3. Removes the registration, then claims all waiters under the lock of the queues. Not in a
//!    signal handler: there the waiters stay parked until another event.
//! 4. Closes the number.
//! 5. Decrements the number of ends under way.
//!
//! # Why no wake is lost
//! * Events: see [`Source::wait_anew`].
//! * A call that reads the count before step 2 of an end: it joins the queue before step 3 of the
//!   end and is woken, or it takes the lock after that and sees the new count.
//! * A call that reads the count after step 2 also sees that the end is under way, until step 5.
//!   After that the number stands for its next object. Such a call began during the end. It acts on
//!   the old object or on the new one, as on a plain thread.
//! * A call registers nothing after step 3, since it checks the count under the lock of the
//!   source's home, which step 3 takes.
//! * The first call for a number creates the source while an end looks for it. The call publishes
//!   the source, then reads the count. The end increments the count, then reads the source. Both
//!   have a fence in between: so the end sees the source, or the call sees the count.
//!
//! Models: `tests::model_number`, where the source exists from the beginning.

use std::io;
// Not from `shim`: models create the source before the threads start.
use std::sync::OnceLock;
use std::time::Instant;

use super::interest::Interest;
use super::site::Seen;
use super::source::{Source, reason};
use crate::base::mutant::mutant;
use crate::shim::atomic::{AtomicU32, Ordering, fence};
use crate::sys::poller::RawSource;
use crate::wait::Spec;

/// The waiters for one number of a descriptor.
#[derive(Debug)]
pub struct Number {
    source: OnceLock<Source>,
    /// The number of ends. Incremented before the close.
    ended: AtomicU32,
    /// The ends that are under way.
    ending: AtomicU32,
}

/// What is known of a number before an attempt.
#[derive(Debug, Copy, Clone)]
pub struct Known {
    seen: Seen,
    ended: u32,
}

/// How a wait for a number ended.
#[derive(Debug)]
pub enum NumberWait {
    /// An attempt may succeed.
    MaySucceed,
    /// The number has ended: no attempt is due.
    HasEnded,
    /// The number is being closed. The caller tries again after a moment.
    IsEnding,
}

impl Known {
    /// Returns false if no event has come since an attempt has failed.
    #[inline]
    #[must_use]
    pub fn is_ready(self, interest: Interest) -> bool {
        self.seen.is_ready(interest)
    }

    /// Returns how often the number had ended.
    #[inline]
    #[must_use]
    pub fn ends(self) -> u32 {
        self.ended
    }
}

impl Number {
    /// Creates a number without a source.
    #[cfg(not(pirn_modelled))]
    #[expect(clippy::new_without_default, reason = "for statics")]
    #[must_use]
    pub const fn new() -> Number {
        Number {
            source: OnceLock::new(),
            ended: AtomicU32::new(0),
            ending: AtomicU32::new(0),
        }
    }

    /// As `new`, for models, in which atomics are not constant. The source exists from the
    /// beginning.
    #[cfg(pirn_modelled)]
    pub(super) fn with_source() -> Number {
        let number = Number {
            source: OnceLock::new(),
            ended: AtomicU32::new(0),
            ending: AtomicU32::new(0),
        };
        number.source().expect("a site");
        number
    }

    /// Returns the source, which the first call creates.
    ///
    /// # Errors
    /// There are too many sources.
    #[inline]
    fn source(&self) -> io::Result<&Source> {
        match self.source.get() {
            Some(source) => Ok(source),
            None => self.create(),
        }
    }

    #[cold]
    fn create(&self) -> io::Result<&Source> {
        let source = Source::new()?;
        Ok(self.source.get_or_init(|| source))
    }

    /// Returns how often the number has ended.
    #[inline]
    #[must_use]
    pub fn ends(&self) -> u32 {
        // ORDERING: Acquire, with `count_end`: a caller that sees the count of an end also sees
        // that the end is under way.
        self.ended.load(Ordering::Acquire)
    }

    /// Returns what is known before an attempt.
    ///
    /// # Errors
    /// There are too many sources.
    #[inline]
    pub fn look(&self) -> io::Result<Known> {
        let ended = self.ends();
        let seen = self.source()?.look();
        Ok(Known { seen, ended })
    }

    /// Parks the caller, a call of `function` on the descriptor `raw`, after an attempt that has
    /// failed since `known`. Returns at once if the number has ended or is ending. May also return
    /// [`NumberWait::MaySucceed`] spuriously.
    ///
    /// # Errors
    /// * Kind `TimedOut`: `until` has passed.
    /// * The caller's interrupt.
    /// * The error of the system: the descriptor cannot be watched.
    #[track_caller]
    pub fn wait(
        &self,
        (raw, function): (RawSource, &'static str),
        known: Known,
        interest: Interest,
        until: Option<Instant>,
    ) -> io::Result<NumberWait> {
        let source = self.source()?;
        // ORDERING: with `begin_end`: see the module's header.
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed: the check under a lock decides.
        let has_ended = || self.ended.load(Ordering::Relaxed) != known.ended;
        if has_ended() {
            return Ok(NumberWait::HasEnded);
        }
        // ORDERING: Acquire, with `finish_end`: when no end is under way any more, the number is
        // closed for the caller, too.
        if self.ending.load(Ordering::Acquire) > 0 && !mutant!("call_overlooks_end") {
            return Ok(NumberWait::IsEnding);
        }
        source.clear(known.seen, interest);
        let waited = source.wait_anew(
            raw,
            (function, descriptor(raw)),
            interest,
            &Spec::interruptible(reason(interest)).until(until),
            has_ended,
        );
        // ORDERING: an end that has woken the caller, or kept it from joining, is visible through
        // the lock of the queues. After an event or an expired limit any value is right.
        match has_ended() {
            true => Ok(NumberWait::HasEnded),
            false => waited.map(|()| NumberWait::MaySucceed),
        }
    }

    /// Records that an attempt has taken all there was: the next one would fail, unless an event
    /// has come since `known`.
    pub fn set_emptied(&self, known: Known, interest: Interest) {
        if let Some(source) = self.source.get() {
            source.drained(known.seen, interest);
        }
    }

    /// Begins an end: wakes all that wait. The caller closes the number next, and then calls
    /// [`finish_end`](Self::finish_end). Without `wakes`, for signal handlers, the waiters stay:
    /// they notice the end when they are woken by something else.
    pub fn begin_end(&self, wakes: bool) {
        self.ending.fetch_add(1, Ordering::Relaxed);
        let late = mutant!("end_wakes_before_it_counts");
        if !late {
            self.count_end();
        }
        if wakes && let Some(source) = self.source.get() {
            source.abandon();
        }
        if late {
            self.count_end();
        }
    }

    fn count_end(&self) {
        // ORDERING: Release, with `ends`.
        self.ended.fetch_add(1, Ordering::Release);
        // ORDERING: with `wait`: see the module's header.
        fence(Ordering::SeqCst);
    }

    /// Completes an end that [`begin_end`](Self::begin_end) began. The caller has closed the
    /// number.
    pub fn finish_end(&self) {
        // ORDERING: Release, with `wait`.
        self.ending.fetch_sub(1, Ordering::Release);
    }
}

/// Returns the number, for reports.
#[cfg(not(pirn_modelled))]
fn descriptor(raw: RawSource) -> i32 {
    raw
}

#[cfg(pirn_modelled)]
fn descriptor(_: RawSource) -> i32 {
    0
}

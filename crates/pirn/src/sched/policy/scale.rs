//! Decides when a pool has more threads than members, and when it no longer has them.
//!
//! Owns: the decision. Does not own: its count by reason (`sched::pool::threads::decisions`), the
//! evidence, which the monitor gathers (`sysmon`), nor the workers' part (`standby`, `threads`).
//!
//! A worker is *stuck* if it has not dispatched for some looks. It *waits* if its thread has waited
//! in the system (or its fiber has announced it, by `block_in_place`) for [`STILL`] at least. It
//! *computes* if it has run for [`LONG`] at least. Workers that wait use no processor, so they do
//! not count among those that *run*.
//!
//! A standby worker is activated when fresh fibers have aged and no member sleeps, and
//! * fewer run than there are members, since others wait; or
//! * some compute for so long that the rest should not have to wait for them: for [`SOON`] if
//!   fibers of other spawn lines wait, for [`LONG`] if only their own do.
//!
//! The number activated at once is at most half of the present threads, and at most one for each
//! stuck worker and for each aged fiber. It never makes more than twice as many workers run as
//! there are members, and never exceeds the pool's maximum of threads. The half keeps a short stall
//! from creating a hundred threads; the doubling keeps a long one from lasting.
//!
//! Active standby workers retire by themselves when they find nothing to take. If there is always
//! something, they are retired when as many workers as there are members make progress without
//! them.

use std::sync::Arc;
use std::time::Duration;

use crate::base::clock;
use crate::events::LogMask;
use crate::sched::policy::threads::Called;
use crate::sched::pool::remote::Remote;
use crate::sched::pool::shared::Pool;
use crate::sched::pool::threads::decisions::ScaleReason;
use crate::sched::pool::threads::duty::Duty;
use crate::sched::pool::threads::thread_list::ThreadList;

/// How long a worker has not dispatched before its thread is checked. A thread costs about a tenth
/// of that; arbitrary otherwise.
pub(super) const STILL: Duration = Duration::from_millis(1);

/// How long a worker computes without a dispatch before others are activated beside it. Twice the
/// threads cost a few percent of the speed where all compute, so it is longer than the pieces that
/// such programs work in; arbitrary otherwise.
pub(in crate::sched) const LONG: Duration = Duration::from_millis(100);

/// The same if a fiber of another line waits than those that compute. A fiber of the same line
/// gains nothing from an earlier start: both compute for equally long, and the first ends later.
pub(super) const SOON: Duration = Duration::from_millis(2);

/// The findings of one look of the monitor, for all workers together.
#[derive(Debug, Clone)]
pub(in crate::sched) struct Evidence {
    /// Fresh fibers that others could take.
    pub(in crate::sched) waiting: usize,
    /// The ones that have not been taken since the look before.
    pub(in crate::sched) aged: usize,
    /// A member slept, and has been woken for them; or a worker has been woken before, and is on
    /// its way.
    pub(in crate::sched) woken: bool,
    /// Workers that are awake.
    pub(in crate::sched) awake: usize,
    /// The ones that have dispatched since the look before.
    pub(in crate::sched) advancing: usize,
    /// The ones that are stuck and wait.
    pub(in crate::sched) wait: usize,
    /// The ones that are stuck and compute.
    pub(in crate::sched) compute: usize,
    /// Workers that have computed for [`SOON`], and not for [`LONG`], while fibers of other lines
    /// wait.
    pub(in crate::sched) soon: usize,
    /// When the next timer of a worker that may be stuck is due, where others may fire it.
    pub(in crate::sched) fire_at: u64,
    /// A worker slept with fibers in its inbox and without a notification.
    pub(in crate::sched) unaware: bool,
    /// A fiber has pending jobs.
    pub(in crate::sched) joining: bool,
    /// Others wait behind such a fiber.
    pub(in crate::sched) crowded: bool,
    /// The spawn lines of the fibers that run on workers that are awake.
    pub(in crate::sched) running: RunningLines,
    /// Fibers of these lines that have not started.
    pub(in crate::sched) alike: usize,
}

/// Spawn lines, as many as fit: others count as lines that do not run. A look allocates nothing.
#[derive(Debug, Clone)]
pub(in crate::sched) struct RunningLines {
    lines: [usize; 16],
    len: usize,
}

impl RunningLines {
    pub(in crate::sched) const EMPTY: RunningLines = RunningLines {
        lines: [0; 16],
        len: 0,
    };

    /// Adds a line; false if it is there already, or does not fit.
    pub(in crate::sched) fn add(&mut self, line: usize) -> bool {
        let there = self.lines[..self.len].contains(&line);
        if there || self.len == self.lines.len() {
            return false;
        }
        self.lines[self.len] = line;
        self.len += 1;
        true
    }
}

impl Default for Evidence {
    fn default() -> Evidence {
        Evidence {
            waiting: 0,
            aged: 0,
            woken: false,
            awake: 0,
            advancing: 0,
            wait: 0,
            compute: 0,
            soon: 0,
            fire_at: u64::MAX,
            unaware: false,
            joining: false,
            crowded: false,
            running: RunningLines::EMPTY,
            alike: 0,
        }
    }
}

impl Evidence {
    /// Returns the time until then.
    pub(super) fn until_fire(&self) -> Duration {
        Duration::from_nanos(self.fire_at.saturating_sub(clock::now()))
    }

    /// Returns the number of workers to activate, if `members` should run and there are `threads`;
    /// or the reason why none is activated.
    pub(in crate::sched) fn wanted(
        &self,
        members: usize,
        threads: usize,
    ) -> Result<usize, ScaleReason> {
        if self.waiting == 0 {
            return Err(ScaleReason::NoWork);
        }
        if self.woken {
            return Err(ScaleReason::IdleCapacity);
        }
        if self.aged == 0 {
            return Err(ScaleReason::Young);
        }
        let run = self.awake - self.wait;
        let too_few = self.wait > 0 && run < members;
        if !too_few && self.compute + self.soon == 0 {
            return Err(ScaleReason::NotStuck);
        }
        let stuck = self.wait + self.compute + self.soon;
        let room = (2 * members).saturating_sub(run);
        match threads.div_ceil(2).min(stuck).min(self.aged).min(room) {
            0 => Err(ScaleReason::AtLimit),
            n => Ok(n),
        }
    }
}

impl Pool {
    /// Counts a decision, and logs it if it is news. Any thread.
    pub(in crate::sched) fn decided(&self, reason: ScaleReason) {
        self.threads.decisions.count(reason);
        if self.logs(LogMask::SYSMON) && self.threads.decisions.is_news(reason) {
            self.say(LogMask::SYSMON, || {
                let threads = self
                    .remotes
                    .iter()
                    .filter(|r| r.thread.is_launched())
                    .count();
                format!("scale: {reason}, {threads} threads")
            });
        }
    }

    /// Decides by the evidence of the monitor. True if there are more threads now.
    pub(in crate::sched) fn scale(self: &Arc<Self>, seen: &Evidence) -> bool {
        if !self.is_elastic() {
            return false;
        }
        let threads = self
            .remotes
            .iter()
            .filter(|r| r.thread.is_launched())
            .count();
        let wanted = seen.wanted(self.workers(), threads);
        match wanted {
            // Where fibers may migrate, the waiting ones need not be fresh.
            Ok(_) if self.pressure() == 0 && !self.is_free() => {
                self.decided(ScaleReason::Nonpositive);
            }
            Ok(n) => return self.grow(n),
            Err(reason) => self.decided(reason),
        }
        false
    }

    fn grow(self: &Arc<Self>, n: usize) -> bool {
        let mut list = self.threads.lock();
        (0..n).filter(|_| self.call_one_in(&mut list)).count() > 0
    }

    fn call_one_in(self: &Arc<Self>, list: &mut ThreadList) -> bool {
        let (reason, more) = match self.call_in(list) {
            Called::Started => (ScaleReason::Started, true),
            Called::Recalled => (ScaleReason::Recalled, true),
            Called::TooMany => (ScaleReason::AtLimit, false),
            Called::Refused => (ScaleReason::NoThread, false),
        };
        self.decided(reason);
        more
    }

    /// A fiber of one of the workers has announced that it blocks its thread. If no worker is there
    /// for fresh fibers, calls one in now.
    pub(super) fn stand_in(self: &Arc<Self>) {
        if !self.is_elastic() || !self.has_visible_work() || self.idle.sleepers_hint() {
            return;
        }
        let mut list = self.threads.lock();
        let runs = |remote: &&Remote| {
            remote.thread.is_launched()
                && !remote.thread.blocks()
                && !remote.inbox.is_parked()
        };
        if self.remotes.iter().filter(runs).count() < self.workers() {
            self.call_one_in(&mut list);
        }
    }

    /// Sends away up to `n` of the workers apart that take fresh fibers. They leave when they
    /// notice, and the fibers that have started there have ended.
    pub(super) fn send_away(&self, n: usize) {
        let _locked = self.threads.lock();
        let active = self.remotes.iter().skip(self.workers()).filter(|remote| {
            remote.thread.is_launched() && remote.thread.duty.get() == Duty::Active
        });
        for remote in active.take(n) {
            if remote.thread.duty.retire() {
                self.decided(ScaleReason::SentAway);
            }
        }
    }

    /// The number of fresh fibers that have been counted in and neither been started nor rejected.
    /// Never too few, except for one that is being started.
    pub(crate) fn pressure(&self) -> u64 {
        let started = || self.remotes.iter().map(|r| r.counters.started.get());
        let spawned = || self.remotes.iter().map(|r| r.counters.spawned.get());
        // In this order: started fibers were counted as spawned before, except one that a worker has
        // just started without a queue.
        let gone = started().sum::<u64>() + self.arrivals.rejected_spawns().get();
        let all = spawned().sum::<u64>() + self.arrivals.spawned().get();
        all.saturating_sub(gone)
    }

    /// Returns the number of each decision about the number of threads.
    pub(crate) fn scale_decisions(&self) -> Vec<(ScaleReason, u64)> {
        self.threads.decisions.get()
    }
}

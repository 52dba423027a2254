//! Tracks which members are awake, searching or asleep, and selects the one to wake. Knows workers
//! by number and no queue.
//!
//! A worker is *awake*, *searching* (awake, counted here, and looking into every queue for work) or
//! *asleep* (its bit is set). Few workers search at a time, so published work wakes at most one
//! more. This is enough because a search never ends without the checks of S2 and S3.
//!
//! # The protocol
//!
//! Publisher, after it has put a fiber where other workers look (any store, any ordering):
//! * P1. issues a `SeqCst` fence;
//! * P2. if a worker searches: returns, since that search will find the fiber;
//! * P3. if no worker sleeps: returns, since every worker looks again before it sleeps;
//! * P4. counts one searcher (0 → 1), clears one sleeper's bit, and wakes that worker, which
//!   thereby searches. If no bit was left, it uncounts itself as in S2 and, if it was the last
//!   searcher, starts over at P2.
//!
//! *Everywhere* is each place from which this worker may take: its inbox, its `placed` queue, the
//! injector, and under `WorkStealing` all rings (`Worker::sees_work`).
//!
//! Worker that runs out of work:
//! * S1. counts itself as searching, unless enough workers do; looks everywhere.
//! * S2. found something: uncounts itself, then issues a fence. *If it was the last searcher*, it
//!   wakes another worker (P2–P4) if more work may be queued, before it runs anything.
//! * S3. found nothing: sets its bit, uncounts itself, then issues a fence. *If no worker searches
//!   now*, it looks everywhere once more. (Looking unconditionally is also correct.)
//! * S4. (a worker that did not search) sets its bit, then issues a fence; *if no worker searches*,
//!   it looks everywhere once more.
//! * S5. sleeps. Its first step after that, or instead of it, is to clear its own bit with a swap,
//!   then a fence. If the bit was already clear, a publisher has claimed this worker: it is counted
//!   as searching and continues with S1's look, or at S2 if it has something else to run.
//! * S6. a worker that saw work at the second look of S3 or S4 resumes as a searcher, even if
//!   enough workers search. Otherwise it would repeat S4 while those searchers are held up.
//!
//! # Why no wake is lost
//! Claim: if a fiber is published and its publisher ends at P2 or P3, then some worker looks where
//! the fiber is queued after the publication, and before the last worker sleeps for good.
//! * *P3, no worker asleep.* Let W be any worker that sleeps later. Had W set its bit before P1, P3
//!   would have seen it: so P1 precedes W's fence of S3 or S4, and all that W reads after that
//!   fence includes the publication. W looks again, unless a worker searches: then see the next
//!   case.
//! * *A worker searches* (seen by the publisher at P2, or by W at S3/S4 with W's bit set). Let Z be
//!   the last of the searchers to leave. The thread that saw the count above zero did so, after a
//!   fence of its own, before Z's subtraction, which is before Z's fence: so Z sees the
//!   publication, and W's bit. If Z leaves by S3, Z looks again itself. If it leaves by S2, Z finds
//!   more queued and W's bit set, and wakes W.
//! * *P4's phantom*: a publisher that counted a searcher and found no bit was seen as a searcher by
//!   other threads in between. It leaves through the same fence. If it was the last, it looks at
//!   the sleepers again, so it takes the role of Z.
//!
//! The fences replace `SeqCst` accesses: a publisher needs no read-modify-write of a shared line to
//! find that a worker searches or that none sleeps. The model checker understands fences.
//!
//! # Members, and workers apart
//! The *members* are the workers that take part in this protocol. A worker may run fibers without
//! being a member (`sched::policy::standby`). It cannot be claimed, no search counts on it, and it
//! publishes to the members. This module only counts how many such workers are awake, so that "all
//! asleep" covers all workers. A worker that joins counts itself as a member before it stops
//! counting as awake apart, and in the reverse order when it leaves. A worker without a thread is
//! counted as a member before its bit is set, and uncounted after the bit was cleared. So in
//! between, some workers that are not awake count as awake; none counts as asleep that is not.
//!
//! *Not* covered: fibers that are published without P1–P4 because one more is no surplus yet. They
//! have their own rule (the monitor looks for aged work while one worker is awake and one sleeps);
//! `models/idle.pml` has both.

use crate::base::bits::AtomicBits;
use crate::base::mutant::mutant;
use crate::base::pad::CachePadded;
use crate::shim::atomic::{AtomicUsize, Ordering, fence};

/// The state of all workers of one dispatcher.
#[derive(Debug)]
pub(crate) struct Idle {
    /// The number of members. Changes with the size of the runtime.
    members: AtomicUsize,
    /// The number of workers that are awake and no members.
    apart: AtomicUsize,
    /// Bit w: worker w sleeps, or is about to, and is not claimed. Read by publishers, written only
    /// when a worker sleeps or wakes.
    sleepers: AtomicBits,
    /// The number of searchers, including claimed workers that are not yet awake.
    searching: CachePadded<AtomicUsize>,
}

impl Idle {
    /// All workers start awake, as members.
    pub(crate) fn new(workers: usize) -> Self {
        Idle {
            members: AtomicUsize::new(workers),
            apart: AtomicUsize::new(0),
            sleepers: AtomicBits::new(Self::room(workers)),
            searching: CachePadded::new(AtomicUsize::new(0)),
        }
    }

    /// The number of members that a pool of `workers` members can grow to without more words to
    /// read.
    pub(crate) fn room(workers: usize) -> usize {
        workers.next_multiple_of(64)
    }

    /// S1. Counts the caller as searching; false if enough workers search.
    pub(crate) fn try_search(&self) -> bool {
        let most = (self.members.load(Ordering::Relaxed) / 2).max(1);
        let mut now = self.searching.load(Ordering::Relaxed);
        while now < most {
            match self.searching.compare_exchange_weak(
                now,
                now + 1,
                Ordering::SeqCst,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(newer) => now = newer,
            }
        }
        false
    }

    /// S2. The searching caller has found work. True if it was the last searcher: then it wakes
    /// another worker if more may be queued, before it runs anything.
    #[must_use = "the last searcher that finds work wakes another"]
    pub(crate) fn found_work(&self) -> bool {
        self.leave()
    }

    /// S3, S4. Worker `w` is about to sleep. True if no worker searches now: then the caller looks
    /// everywhere once more before it sleeps.
    #[must_use = "if no member searches, look everywhere once more"]
    pub(crate) fn announce(&self, w: usize, searching: bool) -> bool {
        let was_set = self.sleepers.set(w);
        debug_assert!(!was_set, "worker {w} announced twice");
        if searching {
            return self.leave();
        }
        self.announced_fence();
        self.searching.load(Ordering::Relaxed) == 0
    }

    /// S5. Worker `w` is awake. True if it had been claimed: then it is counted as searching and
    /// owes a search.
    #[must_use = "a claimed worker owes a search"]
    pub(crate) fn retract(&self, w: usize) -> bool {
        let claimed = !self.sleepers.clear(w);
        // ORDERING: pairs with the first fence in `all_asleep`: either that look sees `w` awake, or
        // what `w` reads from here on includes what was written before that look.
        if !mutant!("idle_retract_unfenced") {
            fence(Ordering::SeqCst);
        }
        claimed
    }

    /// S6. Worker `w` does not sleep after all, because it has seen work: it is awake and counted
    /// as searching, claimed or not.
    pub(crate) fn resume_search(&self, w: usize) {
        if !self.retract(w) {
            self.searching.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// P1–P4. Returns a worker that the caller must wake, already counted as searching: the first
    /// sleeper at or after `from` (circularly). None if a worker searches, or none sleeps.
    #[must_use = "a claimed worker must be woken"]
    pub(crate) fn claim_sleeper(&self, from: usize) -> Option<usize> {
        if !mutant!("idle_claim_unfenced") {
            fence(Ordering::SeqCst); // P1
        }
        // ORDERING: Acquire, so that a thread that sees the count fall to zero sees the bit of the
        // sleeper that took it there (set before, in `announce`).
        while self.searching.load(Ordering::Acquire) == 0 && self.sleepers.any() {
            let counted = self.searching.compare_exchange(
                0,
                1,
                Ordering::SeqCst,
                Ordering::Relaxed,
            );
            if counted.is_err() {
                return None;
            }
            let sleeper = self.sleepers.take_first(from);
            if sleeper.is_some() || !self.leave() || mutant!("idle_phantom_searcher") {
                return sleeper;
            }
        }
        None
    }

    /// As [`Idle::claim_sleeper`], even if a worker searches: for work that one more worker is
    /// known to be able to take.
    #[must_use = "a claimed worker must be woken"]
    pub(crate) fn claim_any(&self, from: usize) -> Option<usize> {
        fence(Ordering::SeqCst);
        while self.sleepers.any() {
            self.searching.fetch_add(1, Ordering::SeqCst);
            let sleeper = self.sleepers.take_first(from);
            if sleeper.is_some() || !self.leave() {
                return sleeper;
            }
        }
        None
    }

    /// Claims worker `w`, if it sleeps, for work that only `w` can take. Returns a worker that the
    /// caller must wake: `w`, or another one that continues the search that other threads believed
    /// this call to be (P4).
    #[must_use = "a claimed worker must be woken"]
    pub(crate) fn claim_this(&self, w: usize) -> Option<usize> {
        fence(Ordering::SeqCst);
        if !self.sleepers.get(w) {
            return None;
        }
        self.searching.fetch_add(1, Ordering::SeqCst);
        if self.sleepers.clear(w) {
            return Some(w);
        }
        match self.leave() {
            true => self.claim_sleeper(w),
            false => None,
        }
    }

    /// Returns a hint about sleepers, from one plain load (for up to 64 workers) of a line that is
    /// written only when a worker sleeps or wakes. Not P1–P3: a wake may be omitted because of it
    /// only if the monitor compensates.
    #[inline]
    pub(crate) fn sleepers_hint(&self) -> bool {
        self.sleepers.any()
    }

    /// True if every member had its bit set, and no worker was awake apart.
    ///
    /// Between two fences. Let a thread announce that it stops, then see all asleep here: a worker
    /// that wakes up or goes to sleep later sees the announcement. A thread that sees a worker
    /// awake which that thread saw asleep also sees the announcement.
    pub(crate) fn all_asleep(&self) -> bool {
        // ORDERING: pairs with the fences in `retract` and `announce`.
        if !mutant!("idle_all_asleep_unfenced") {
            fence(Ordering::SeqCst);
        }
        let all = self.apart.load(Ordering::Relaxed) == 0
            && self.sleeping() == self.members.load(Ordering::Relaxed);
        // ORDERING: pairs with the fence above, in another thread.
        fence(Ordering::SeqCst);
        all
    }

    /// Makes worker `w`, which has no thread, a member.
    pub(crate) fn add_asleep(&self, w: usize) {
        self.members.fetch_add(1, Ordering::SeqCst);
        let was_set = self.sleepers.set(w);
        debug_assert!(!was_set, "worker {w} was a member already");
    }

    /// Removes worker `w`, which has no thread, from the members. False if it stays one, because a
    /// thread has claimed it and is about to launch it.
    #[must_use = "a claimed worker is still a member"]
    pub(crate) fn remove_asleep(&self, w: usize) -> bool {
        let asleep = self.sleepers.clear(w);
        if asleep {
            self.members.fetch_sub(1, Ordering::SeqCst);
        }
        asleep
    }

    /// Makes a worker that is awake and apart a member.
    pub(crate) fn join(&self) {
        self.members.fetch_add(1, Ordering::SeqCst);
        self.apart.fetch_sub(1, Ordering::SeqCst);
    }

    /// Removes a member that is awake, and counted as searching or not, from the members. True if
    /// it was the last searcher: then the caller wakes another worker if more may be queued.
    #[must_use = "the last searcher sees to what is queued"]
    pub(crate) fn part(&self, searching: bool) -> bool {
        self.apart.fetch_add(1, Ordering::SeqCst);
        self.members.fetch_sub(1, Ordering::SeqCst);
        searching && self.leave()
    }

    /// A worker apart is awake from now on, or about to be.
    pub(crate) fn wake_apart(&self) {
        self.apart.fetch_add(1, Ordering::SeqCst);
        // ORDERING: as in `retract`.
        if !mutant!("idle_apart_unfenced") {
            fence(Ordering::SeqCst);
        }
    }

    /// A worker apart is about to sleep, or its thread has ended.
    pub(crate) fn sleep_apart(&self) {
        self.apart.fetch_sub(1, Ordering::SeqCst);
        self.announced_fence();
    }

    /// The number of workers that sleep or search for work.
    pub(crate) fn unoccupied(&self) -> usize {
        self.sleeping() + self.searching.load(Ordering::Relaxed)
    }

    pub(crate) fn sleeping(&self) -> usize {
        self.sleepers.count()
    }

    #[cfg_attr(not(test), expect(dead_code, reason = "tests look at it"))]
    pub(crate) fn searching(&self) -> usize {
        self.searching.load(Ordering::Relaxed)
    }

    /// Uncounts one searcher, with the fence of S2, S3 and P4. True if it was the last.
    fn leave(&self) -> bool {
        // ORDERING: SeqCst includes the release that the load of the count in
        // `claim_sleeper` acquires.
        let last = self.searching.fetch_sub(1, Ordering::SeqCst) == 1;
        self.announced_fence();
        last
    }

    fn announced_fence(&self) {
        if !mutant!("idle_announce_unfenced") {
            fence(Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::Idle;

    /// The number of searchers changes often, and shares no line with what is read often and
    /// changes rarely.
    // Proves: C16.
    #[test]
    fn searchers_and_members_share_no_line() {
        assert_eq!(align_of::<Idle>(), 128);
        let searching = offset_of!(Idle, searching);
        let others = [
            offset_of!(Idle, members),
            offset_of!(Idle, apart),
            offset_of!(Idle, sleepers),
        ];
        for other in others {
            assert_ne!(other / 128, searching / 128, "at {other} and {searching}");
        }
    }
}

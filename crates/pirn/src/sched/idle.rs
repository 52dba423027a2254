//! Who is awake, who searches, and whom to wake. Knows workers by number and no queue.
//!
//! A worker is *awake*, *searching* (awake, counted here, looks into every queue for work) or
//! *asleep* (its bit is set). Few search at a time, so that work that appears wakes at most
//! one more; the rule that makes this enough is that a search never ends in silence.
//!
//! # The protocol
//!
//! Publisher, having put a fiber where others look (any store, any ordering):
//! * P1. a `SeqCst` fence;
//! * P2. if someone searches: done, that search will not miss it;
//! * P3. if nobody sleeps: done, everyone looks again before sleeping;
//! * P4. counts one searcher (0 → 1), clears one sleeper's bit, and wakes that worker, which
//!   thereby searches. If the bits were all gone by then, it uncounts itself as in S2 and,
//!   if it was the last, starts over at P2.
//!
//! Worker that runs out of work:
//! * S1. counts itself searching, unless enough do; looks everywhere.
//! * S2. found something: uncounts itself, then a fence. *If it was the last searcher* it
//!   wakes another (P2–P4) if more may be there, before it runs anything.
//! * S3. found nothing: sets its bit, uncounts itself, then a fence. *If nobody searches now*
//!   it looks everywhere once more. (To look in any case is as good.)
//! * S4. (whoever did not search at all) sets its bit, then a fence; *if nobody searches*, it
//!   looks everywhere once more.
//! * S5. sleeps; and as its first act after that, or instead, swaps its own bit away, then a
//!   fence. If the bit was gone, somebody claimed this worker: it is counted as searching and
//!   goes on at S1's look, or at S2 if it has something else to run.
//! * S6. whoever saw work at the second look of S3 or S4 goes on as a searcher, even if
//!   enough search: else it would come round again and again while those are held up.
//!
//! # Why no wake is lost
//! Claim: if a fiber is published and its publisher ends at P2 or P3, then some worker looks
//! where it lies after the publication, and before the last worker sleeps for good.
//! * *P3, nobody asleep.* Let W be any worker that sleeps later. Had W set its bit before
//!   P1, P3 would have seen it: so P1 precedes W's fence of S3 or S4, and all that W reads
//!   after that fence includes the publication. W looks again, unless someone searches:
//!   then see the next case.
//! * *Somebody searches* (seen by the publisher at P2, or by W at S3/S4 with W's bit set).
//!   Let Z be the last of the searchers to leave. Whoever saw the count above zero did so,
//!   after a fence of its own, before Z's subtraction, which is before Z's fence: so Z sees
//!   the publication, and W's bit. If Z leaves by S3, Z looks again itself. If it leaves by
//!   S2, Z finds more queued and W's bit set, and wakes W.
//! * *P4's phantom*: a publisher that counted a searcher and found no bit was believed by
//!   others meanwhile. It leaves through the same fence, and if it was the last it looks at
//!   the sleepers again, so it stands in for Z.
//!
//! The fences do what `SeqCst` accesses would: publishers need no read-modify-write of a
//! shared line to find a searcher, or nobody asleep, and the model checker understands
//! fences.
//!
//! # Members, and who stands apart
//! Those are the *members*: the workers that take part in the above. A worker may run fibers
//! without being one (`apart`): it is nobody's to claim, no search counts on it, and what it
//! publishes it publishes to the members. All that is known of it here is how many such are
//! awake, so that "all asleep" means everyone. Whoever joins counts itself as a member
//! before it stops counting as awake apart, and the other way round when it leaves; a worker without a
//! thread is counted as a member before its bit is set, and uncounted after that was cleared. So
//! in between some are thought awake, never asleep, that are not.
//!
//! What this does *not* cover: fibers that are published without P1–P4 because one more is
//! no surplus yet. They have their own rule (the monitor looks for aged work while one is
//! awake and one sleeps); `models/idle.pml` has both.

use crate::base::bits::AtomicBits;
use crate::base::mutant::mutant;
use crate::base::pad::CachePadded;
use crate::shim::atomic::{AtomicUsize, Ordering, fence};

/// The state of all workers of one dispatcher.
#[derive(Debug)]
pub(crate) struct Idle {
    /// How many members there are. Changes when the runtime's size does.
    members: AtomicUsize,
    /// How many workers are awake that are no members.
    apart: AtomicUsize,
    /// Bit w: worker w sleeps, or is about to, and nobody has claimed it. Read by
    /// publishers, written only when someone sleeps or wakes.
    sleepers: AtomicBits,
    /// How many search, claimed workers that are not yet awake included.
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

    /// How many members there can be, if there are `workers` at first: as many as cost nothing
    /// more to look at.
    pub(crate) fn room(workers: usize) -> usize {
        workers.next_multiple_of(64)
    }

    /// S1. Counts the caller as searching; false: enough do.
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

    /// S2. The searching caller has work. True: it was the last searcher, and wakes another
    /// if more may be queued, before it runs anything.
    #[must_use = "the last searcher that finds work wakes another"]
    pub(crate) fn found_work(&self) -> bool {
        self.leave()
    }

    /// S3, S4. Worker `w` is about to sleep. True: nobody searches now, so the caller looks
    /// everywhere once more before it sleeps.
    #[must_use = "if nobody searches, look everywhere once more"]
    pub(crate) fn announce(&self, w: usize, searching: bool) -> bool {
        let was_set = self.sleepers.set(w);
        debug_assert!(!was_set, "worker {w} announced twice");
        if searching {
            return self.leave();
        }
        self.announced_fence();
        self.searching.load(Ordering::Relaxed) == 0
    }

    /// S5. Worker `w` is awake. True: it had been claimed, so it is counted as searching and
    /// owes a search.
    #[must_use = "a claimed worker owes a search"]
    pub(crate) fn retract(&self, w: usize) -> bool {
        let claimed = !self.sleepers.clear(w);
        // ORDERING: pairs with the first fence in `all_asleep`: either that look sees `w`
        // awake, or what `w` reads from here on includes what was written before that look.
        if !mutant!("idle_retract_unfenced") {
            fence(Ordering::SeqCst);
        }
        claimed
    }

    /// S6. Worker `w` does not sleep after all, because it has seen work: it is awake and
    /// counted as searching, claimed or not.
    pub(crate) fn resume_search(&self, w: usize) {
        if !self.retract(w) {
            self.searching.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// P1–P4. Some worker that the caller must wake, already counted as searching; the
    /// first at or after `from` (going round). None: someone searches, or nobody sleeps.
    #[must_use = "a claimed worker must be woken"]
    pub(crate) fn claim_sleeper(&self, from: usize) -> Option<usize> {
        if !mutant!("idle_claim_unfenced") {
            fence(Ordering::SeqCst); // P1
        }
        // ORDERING: Acquire, so that who sees the count fall to zero sees the bit of the
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

    /// As [`Idle::claim_sleeper`], even though someone searches: for work that one more
    /// worker is known to be good for.
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
    /// caller must wake: `w`, or another one that continues the search that this call seemed
    /// to be (P4).
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

    /// A hint, from one plain load (for up to 64 workers) of a line that is written only
    /// when someone sleeps or wakes. Not P1–P3: no wake may be left out because of it
    /// unless the monitor makes up for it.
    #[inline]
    pub(crate) fn sleepers_hint(&self) -> bool {
        self.sleepers.any()
    }

    /// True if every member had its bit set, and nobody was awake apart.
    ///
    /// Between two fences. Who says "I stop", looks, and sees all asleep, is seen to have
    /// stopped by whoever wakes up or goes to sleep later; and who looks, and sees somebody
    /// awake that the other saw asleep, sees what the other said.
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

    /// Worker `w`, which has no thread, is a member from now on.
    pub(crate) fn add_asleep(&self, w: usize) {
        self.members.fetch_add(1, Ordering::SeqCst);
        let was_set = self.sleepers.set(w);
        debug_assert!(!was_set, "worker {w} was a member already");
    }

    /// Worker `w`, which has no thread, is no member any more. False: it is, since somebody
    /// has claimed it, who is about to give it a thread.
    #[must_use = "who was claimed is a member still"]
    pub(crate) fn remove_asleep(&self, w: usize) -> bool {
        let asleep = self.sleepers.clear(w);
        if asleep {
            self.members.fetch_sub(1, Ordering::SeqCst);
        }
        asleep
    }

    /// A worker that is awake and apart is a member from now on.
    pub(crate) fn join(&self) {
        self.members.fetch_add(1, Ordering::SeqCst);
        self.apart.fetch_sub(1, Ordering::SeqCst);
    }

    /// A member that is awake, and counted as searching or not, stands apart from now on.
    /// True: it was the last searcher, and wakes another if more may be queued.
    #[must_use = "the last searcher sees to what is queued"]
    pub(crate) fn part(&self, searching: bool) -> bool {
        self.apart.fetch_add(1, Ordering::SeqCst);
        self.members.fetch_sub(1, Ordering::SeqCst);
        searching && self.leave()
    }

    /// A worker that stands apart is awake from now on, or about to be.
    pub(crate) fn wake_apart(&self) {
        self.apart.fetch_add(1, Ordering::SeqCst);
        // ORDERING: as in `retract`.
        if !mutant!("idle_apart_unfenced") {
            fence(Ordering::SeqCst);
        }
    }

    /// A worker that stands apart is about to sleep, or gone.
    pub(crate) fn sleep_apart(&self) {
        self.apart.fetch_sub(1, Ordering::SeqCst);
        self.announced_fence();
    }

    /// How many sleep, or search for work.
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

    /// Uncounts one searcher, with the fence of S2, S3 and P4. True: it was the last.
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

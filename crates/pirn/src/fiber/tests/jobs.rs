//! The list of pending jobs compared with a queue. After any sequence of pushes, pops, promotions
//! and take-alongs, each job is its join's again or promoted, once.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::Location;
use std::ptr::NonNull;

use crate::base::rng::Rng;
use crate::fiber::jobs::{Beat, Job, Jobs};

/// A job with a record behind it, as `par` has.
#[repr(C)]
struct Numbered {
    job: Job,
    number: u32,
}

std::thread_local! {
    /// The jobs that have been promoted on this thread, and whether they were wanted.
    static PROMOTED: RefCell<Vec<(u32, bool)>> = const { RefCell::new(Vec::new()) };
}

/// # Safety
/// `job` points to all of a [`Numbered`].
unsafe fn promote(job: NonNull<Job>, wanted: bool) {
    // SAFETY: the caller's promise.
    let number = unsafe { job.cast::<Numbered>().as_ref() }.number;
    PROMOTED.with_borrow_mut(|promoted| promoted.push((number, wanted)));
}

/// A list, and its expected content.
struct Pair {
    jobs: std::sync::Arc<Jobs>,
    model: VecDeque<NonNull<Numbered>>,
    made: Vec<NonNull<Numbered>>,
}

impl Pair {
    fn push(&mut self) {
        let numbered = Numbered {
            job: Job::new(Location::caller(), Some(promote)),
            number: self.made.len() as u32,
        };
        let numbered = NonNull::from(Box::leak(Box::new(numbered)));
        // SAFETY: JO1, JO2: only this thread has them, and they are freed in the end.
        unsafe { self.jobs.push(numbered.cast()) };
        self.made.push(numbered);
        self.model.push_back(numbered);
    }

    fn pop(&mut self) {
        let Some(newest) = self.model.pop_back() else {
            return;
        };
        // SAFETY: freed in the end.
        let job = unsafe { &newest.as_ref().job };
        assert!(job.is_pending());
        // SAFETY: pushed, and pending by the model.
        unsafe { self.jobs.pop(job) };
    }

    fn promote(&mut self, wanted: bool) {
        let oldest = self.model.pop_front();
        let was_any = self.jobs.promote_oldest(wanted);
        assert_eq!(was_any, oldest.is_some());
        let promoted = PROMOTED.with_borrow_mut(Vec::pop);
        // SAFETY: freed in the end.
        let numbered = oldest.map(|oldest| unsafe { oldest.as_ref() });
        assert_eq!(promoted, numbered.map(|it| (it.number, wanted)));
        assert!(numbered.is_none_or(|it| !it.job.is_pending()));
    }

    /// Yields; another fiber runs meanwhile.
    fn give_way(&mut self, others: impl FnOnce(&mut Pair)) {
        let along = self.jobs.take_along();
        let model = std::mem::take(&mut self.model);
        assert_eq!(along.is_some(), !model.is_empty());
        self.check();
        others(self);
        while !self.model.is_empty() {
            self.pop();
        }
        self.model = model;
        if let Some(along) = along {
            // SAFETY: taken above; all that was pushed since has been popped or promoted.
            unsafe { self.jobs.bring_back(along) };
        }
    }

    fn check(&self) {
        assert_eq!(self.jobs.has_pending(), !self.model.is_empty());
        if let Some(newest) = self.model.back() {
            assert!(std::ptr::eq(self.jobs.newest(), newest.cast().as_ptr()));
        }
        // SAFETY: freed in the end.
        let is_pending = |it: &NonNull<Numbered>| unsafe { it.as_ref() }.job.is_pending();
        assert!(self.model.iter().all(is_pending));
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for numbered in self.made.drain(..) {
            // SAFETY: created from a box by `push`; the list is not used any more.
            drop(unsafe { Box::from_raw(numbered.as_ptr()) });
        }
    }
}

fn steps(pair: &mut Pair, rng: &mut Rng, count: usize, depth: usize) {
    for _ in 0..count {
        match rng.below(8) {
            0..=3 => pair.push(),
            4..=5 => pair.pop(),
            6 => pair.promote(rng.below(2) == 0),
            _ if depth == 0 => {}
            _ => pair.give_way(|pair| steps(pair, rng, 12, depth - 1)),
        }
        pair.check();
    }
}

// Proves: O9-list.
#[test]
fn a_list_of_jobs_is_a_queue() {
    for seed in 0..200 {
        let mut pair = Pair {
            jobs: Jobs::new(false),
            model: VecDeque::new(),
            made: Vec::new(),
        };
        steps(&mut pair, &mut Rng::new(seed), 200, 2);
        while !pair.model.is_empty() {
            pair.promote(false);
        }
        pair.promote(true);
        pair.check();
    }
}

/// A request returns whether it is new. The owner finds all reasons at once, and the permanent ones
/// again.
// Proves: O9-list.
#[test]
fn reasons_are_gathered() {
    let jobs = Jobs::new(false);
    assert_eq!(jobs.take_beat(), Beat::ARMED);
    assert!(!jobs.is_due());
    assert!(
        jobs.request(Beat::ASKED)
            && !jobs.request(Beat::ASKED)
            && jobs.request(Beat::ARMED)
    );
    assert!(jobs.is_due());
    let why = jobs.take_beat();
    assert!(why.has(Beat::ASKED) && why.has(Beat::ARMED) && !why.has(Beat::AGAIN));
    assert!(!jobs.is_due());
    let always = Jobs::new(true);
    assert!(always.request(Beat::ASKED));
    let why = always.take_beat();
    assert!(why.has(Beat::ALWAYS) && why.has(Beat::ASKED));
    assert_eq!(always.take_beat(), Beat::ALWAYS);
    assert!(always.is_due() && Jobs::none().is_due());
    assert!(Jobs::none().has_no_owner() && !jobs.has_no_owner());
}

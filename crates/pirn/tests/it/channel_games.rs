//! Traffic on channels that ends in the middle, for storms short and long. Every value is numbered,
//! and every number is counted where it arrives.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use pirn::channel::bounded;

use crate::executor_kind::{ExecutorKind, Jobs};

pub(crate) const CAPACITIES: [usize; 6] = [0, 1, 2, 3, 8, 1_000];

/// Which numbers have arrived.
pub(crate) struct Seen(Vec<AtomicU8>);

impl Seen {
    pub(crate) fn new(values: usize) -> Self {
        Seen((0..values).map(|_| AtomicU8::new(0)).collect())
    }

    pub(crate) fn mark(&self, value: usize) {
        let before = self.0[value].fetch_add(1, Ordering::Relaxed);
        assert_eq!(before, 0, "value {value} arrived twice");
    }

    pub(crate) fn has(&self, value: usize) -> bool {
        self.0[value].load(Ordering::Relaxed) == 1
    }

    pub(crate) fn count(&self) -> usize {
        (0..self.0.len()).filter(|&value| self.has(value)).count()
    }
}

/// A cheap number that differs from job to job and from step to step.
pub(crate) fn scramble(job: usize, step: usize) -> usize {
    (job * 31 + step).wrapping_mul(0x9e37_79b9) >> 7
}

/// A pipeline with stages that end because the previous one has ended.
pub(crate) fn cascade(
    executor: ExecutorKind,
    workers: usize,
    capacity: usize,
    values: usize,
) {
    const STAGES: usize = 6;
    let (first, mut rx) = bounded(capacity);
    let mut jobs = Jobs::new();
    jobs.add(move || (0..values).for_each(|i| first.send(i).unwrap()));
    for _ in 0..STAGES {
        let (tx, next) = bounded(capacity);
        jobs.add(move || rx.into_iter().for_each(|i: usize| tx.send(i + 1).unwrap()));
        rx = next;
    }
    jobs.add(move || assert!(rx.into_iter().eq(STAGES..STAGES + values)));
    jobs.run(executor, workers);
}

/// Closes in the middle of traffic: each admitted value arrives, every other one is returned.
pub(crate) fn close_amid(
    executor: ExecutorKind,
    workers: usize,
    capacity: usize,
    rounds: usize,
) {
    const SENDERS: usize = 3;
    const EACH: usize = 40;
    for round in 0..rounds {
        let (tx, rx) = bounded(capacity);
        let (admitted, seen) = (Seen::new(SENDERS * EACH), Seen::new(SENDERS * EACH));
        let closes = AtomicUsize::new(0);
        let mut jobs = Jobs::new();
        for sender in 0..SENDERS {
            let (tx, admitted) = (tx.clone(), &admitted);
            jobs.add(move || {
                for value in sender * EACH..(sender + 1) * EACH {
                    match tx.send(value) {
                        Ok(()) => admitted.mark(value),
                        Err(back) => assert_eq!(back.into_inner(), value),
                    }
                }
            });
            let (rx, seen) = (rx.clone(), &seen);
            jobs.add(move || rx.iter().for_each(|value| seen.mark(value)));
        }
        for closer in 0..2 {
            let (tx, rx, closes) = (tx.clone(), rx.clone(), &closes);
            jobs.add(move || {
                for _ in 0..scramble(round, closer) % 60 {
                    pirn::yield_now();
                }
                let closed = if closer == 0 { tx.close() } else { rx.close() };
                closes.fetch_add(usize::from(closed), Ordering::SeqCst);
            });
        }
        drop(tx);
        jobs.run(executor, workers);
        assert_eq!(closes.into_inner(), 1);
        for value in 0..SENDERS * EACH {
            let (sent, arrived) = (admitted.has(value), seen.has(value));
            assert_eq!(
                sent, arrived,
                "value {value}, capacity {capacity}, {executor:?}"
            );
        }
        assert!(rx.try_recv().is_err());
    }
}

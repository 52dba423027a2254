//! The timers of a polling fiber, and wakers that count.

use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use crate::channel::{Receiver, bounded};
use crate::fiber::current;
use crate::time::now;
use crate::wait::poll_timers::{Key, PollTimers, PollTimersSlot, within_own};
use crate::{Runtime, run, spawn};

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

const SECOND: Duration = Duration::from_secs(1);

/// Makes one note for each of these seconds.
fn note_all(
    poll_timers: &PollTimersSlot,
    start: Instant,
    seconds: RangeInclusive<u32>,
    wakes: &Arc<Wakes>,
) -> (Arc<PollTimers>, Vec<Key>) {
    within_own(poll_timers, || {
        let timers =
            PollTimersSlot::at_hand(current::local()).expect("the timers of this poll");
        let waker = Waker::from(Arc::clone(wakes));
        let keys = seconds.map(|s| timers.note(start + SECOND * s, &waker));
        let keys = keys.collect();
        (timers, keys)
    })
}

#[test]
fn what_is_due_is_called_once() {
    run(|| {
        let (poll_timers, start, wakes) =
            (PollTimersSlot::default(), now(), Arc::new(Wakes::default()));
        assert_eq!(poll_timers.first(), None);
        let (timers, keys) = note_all(&poll_timers, start, 1..=5, &wakes);
        assert_eq!(poll_timers.first(), Some(start + SECOND));
        assert!(!poll_timers.call_due(start), "nothing yet");
        assert!(poll_timers.call_due(start + 2 * SECOND));
        assert!(!poll_timers.call_due(start + 2 * SECOND), "not again");
        assert_eq!(wakes.0.load(Ordering::SeqCst), 2);
        timers.strike(keys[0]);
        timers.strike(keys[2]);
        assert_eq!(poll_timers.first(), Some(start + 4 * SECOND));
        let (mine, other) = (Waker::from(Arc::clone(&wakes)), Waker::noop());
        assert!(timers.has(keys[3], &mine) && !timers.has(keys[3], other));
        assert!(!timers.has(keys[2], &mine));
    });
}

// Proves: N1-X-futures.
#[test]
fn what_is_left_is_called() {
    run(|| {
        let wakes = Arc::new(Wakes::default());
        let poll_timers = PollTimersSlot::default();
        let (timers, _) = note_all(&poll_timers, now(), 1..=3, &wakes);
        drop(poll_timers);
        assert_eq!(wakes.0.load(Ordering::SeqCst), 3);
        drop(timers);
        assert_eq!(Arc::strong_count(&wakes), 1);
    });
}

#[test]
fn timers_are_at_hand_in_its_poll_only() {
    run(|| {
        let at_hand = || PollTimersSlot::at_hand(current::local());
        assert!(at_hand().is_none());
        let (outer, inner) = (PollTimersSlot::default(), PollTimersSlot::default());
        within_own(&outer, || {
            let before = at_hand().expect("timers");
            let amid = within_own(&inner, || at_hand().expect("timers"));
            assert!(!Arc::ptr_eq(&before, &amid));
            assert!(Arc::ptr_eq(&before, &at_hand().expect("timers")));
        });
        assert!(at_hand().is_none());
    });
}

/// Waits when it is dropped.
struct Receives(Receiver<()>);

impl Drop for Receives {
    fn drop(&mut self) {
        let _ = self.0.recv();
    }
}

/// Whether the caller is in a poll, as far as its thread knows.
fn is_in_a_poll() -> bool {
    let local = current::local();
    local.is_polling() || PollTimersSlot::at_hand(local).is_some()
}

/// A fiber that unwinds amid a poll, and is suspended in the end: the others on its thread are in
/// no poll.
#[test]
fn a_fiber_that_leaves_amid_a_poll_leaves_no_trace() {
    let runtime = Runtime::builder().workers(1).max_threads(1).build();
    let traces = runtime.expect("a runtime starts").run(|| {
        let (tx, rx) = bounded(1);
        // On the only worker, so it runs once this fiber is suspended.
        let other = spawn(move || {
            let trace = is_in_a_poll();
            tx.send(()).expect("it waits");
            trace
        });
        let poll_timers = PollTimersSlot::default();
        let poll = AssertUnwindSafe(|| {
            within_own(&poll_timers, || {
                let _receives = Receives(rx);
                resume_unwind(Box::new(()));
            });
        });
        assert!(catch_unwind(poll).is_err());
        [other.join().expect("an answer"), is_in_a_poll()]
    });
    assert_eq!(traces, [false, false]);
}

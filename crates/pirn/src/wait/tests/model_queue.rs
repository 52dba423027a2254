//! Models: a waiter in a queue, its waker, its deadline and its cancellation. Whatever ends the
//! wait, one party has the value, the waiter has left the queue, and no other code accesses the
//! waiter's frame after that.

use std::sync::Arc;
use std::time::Duration;

use crate::base::tests::explore::explore;
use crate::fiber::tests::stage::Block;
use crate::fiber::waiter::WaitQueue;
use crate::shim::thread::{self, JoinHandle};
use crate::shim::{self, Lock};
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::{Attempt, How, Interrupt, Reason, Spec, Waited, deadline, wait_in};

/// The value that is handed over.
const VALUE: u32 = 42;

/// A primitive to wait for: values that are handed to waiters or kept.
struct Room {
    state: Lock<State>,
}

struct State {
    kept: Vec<u32>,
    waiters: WaitQueue<Option<u32>>,
}

impl Describe for State {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Key
    }
}

impl Room {
    fn new() -> Arc<Room> {
        let state = State {
            kept: Vec::new(),
            waiters: WaitQueue::new(),
        };
        Arc::new(Room {
            state: Lock::new(state),
        })
    }

    /// Hands a value to the first waiter, or keeps it.
    fn give(&self, value: u32) {
        let mut state = self.state.lock();
        let mut value = Some(value);
        let wake = state.waiters.claim_first(|place| *place = value.take());
        state.kept.extend(value);
        drop(state);
        if let Some(wake) = wake {
            wake.enqueue();
        }
    }

    fn giver(self: &Arc<Self>, value: u32) -> JoinHandle<()> {
        let room = Arc::clone(self);
        thread::spawn(String::new(), move || room.give(value)).expect("a modelled thread")
    }

    /// Takes a value; `None` if the wait ended otherwise.
    fn take(&self, spec: &Spec) -> (Option<u32>, Option<How>) {
        let attempt = |state: &mut State| match state.kept.pop() {
            Some(value) => Attempt::Done(value),
            None => Attempt::Wait(None),
        };
        match wait_in(&self.state, |state| &mut state.waiters, spec, attempt) {
            Waited::Done(value) => (Some(value), None),
            Waited::Ended(how, value) => (value, Some(how)),
        }
    }

    /// Checks at the end that the queue is empty, and the remaining values are `expected`.
    fn close(&self, expected: &[u32]) {
        let state = self.state.lock();
        assert!(state.waiters.is_empty(), "a waiter is still in the queue");
        assert_eq!(state.kept, expected);
    }
}

fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("the thread passes"));
}

fn fiber() -> Arc<Block> {
    let block = Block::new();
    block.renew(1);
    Arc::new(block)
}

/// Hand-over to a waiter that has parked, and to one that has not yet.
// Proves: F5, G6, G7.
#[test]
fn model_queue_hand_over() {
    explore("queue_hand_over", 3, || {
        let (room, block) = (Room::new(), fiber());
        let giver = room.giver(VALUE);
        let taken = block.play(|| room.take(&Spec::of(Reason::Recv)));
        assert_eq!(taken.0, Some(VALUE));
        join([giver]);
        room.close(&[]);
    });
}

/// Two waiters and two values: each gets one.
// Proves: G5.
#[test]
fn model_queue_two_waiters() {
    explore("queue_two_waiters", 2, || {
        let (room, block, second) = (Room::new(), fiber(), fiber());
        let other = {
            let room = Arc::clone(&room);
            second.start(move || {
                assert!(room.take(&Spec::of(Reason::Recv)).0.is_some());
            })
        };
        let giver = {
            let room = Arc::clone(&room);
            let body = move || {
                room.give(1);
                room.give(2);
            };
            thread::spawn(String::new(), body).expect("a modelled thread")
        };
        assert!(
            block
                .play(|| room.take(&Spec::of(Reason::Recv)))
                .0
                .is_some()
        );
        join([other, giver]);
        room.close(&[]);
    });
}

/// The deadline races the hand-over: the result is the value or a time-out, and a value that was
/// not taken is kept.
// Proves: G2.
#[test]
fn model_queue_deadline_against_hand_over() {
    explore("queue_deadline", 3, || {
        let (room, block) = (Room::new(), fiber());
        let giver = room.giver(VALUE);
        let spec =
            Spec::of(Reason::Recv).until(Some(shim::now() + Duration::from_secs(1)));
        let (value, how) = block.play(|| room.take(&spec));
        assert_eq!(
            value.is_none(),
            how == Some(How::TimedOut),
            "{value:?}, {how:?}"
        );
        join([giver]);
        room.close(if value.is_none() { &[VALUE] } else { &[] });
    });
}

/// A deadline of the code around the wait, future or past, races the hand-over.
fn limit_against_hand_over(name: &'static str, left: Duration) {
    explore(name, 3, move || {
        let (room, block) = (Room::new(), fiber());
        let giver = room.giver(VALUE);
        let ((value, how), reported) = block.play(|| {
            let take = || room.take(&Spec::interruptible(Reason::Recv));
            deadline::under(shim::now() + left, take)
        });
        let interrupted = how == Some(How::Interrupted(Interrupt::TimedOut));
        assert_eq!(value.is_none(), interrupted, "{value:?}, {how:?}");
        assert_eq!(reported, interrupted);
        join([giver]);
        room.close(if value.is_none() { &[VALUE] } else { &[] });
    });
}

// Proves: N11.
#[test]
fn model_queue_limit_against_hand_over() {
    limit_against_hand_over("queue_limit", Duration::from_secs(1));
}

#[test]
fn model_queue_expired_limit_against_hand_over() {
    limit_against_hand_over("queue_expired_limit", Duration::ZERO);
}

/// Cancellation races the hand-over, with another waiter behind, which gets the value that the
/// cancelled one does not take.
// Proves: G2.
#[test]
fn model_queue_cancel_against_hand_over() {
    explore("queue_cancel", 2, || {
        let (room, block) = (Room::new(), fiber());
        let canceller = {
            let block = Arc::clone(&block);
            let body = move || {
                if block.header().state.cancel() {
                    crate::fiber::ticket::Wake::of(block.pointer()).enqueue();
                }
            };
            thread::spawn(String::new(), body).expect("a modelled thread")
        };
        let giver = room.giver(VALUE);
        let (value, how) = block.play(|| room.take(&Spec::interruptible(Reason::Recv)));
        assert_eq!(
            value.is_none(),
            how == Some(How::Interrupted(Interrupt::Cancelled)),
            "{value:?}, {how:?}"
        );
        join([giver, canceller]);
        room.close(if value.is_none() { &[VALUE] } else { &[] });
    });
}

/// A waiter that leaves by its deadline does not lose a hand-over that was meant for the next one.
// Proves: G5.
#[test]
fn model_queue_a_leaver_passes_its_wake_on() {
    explore("queue_who_leaves", 2, || {
        let (room, block, second) = (Room::new(), fiber(), fiber());
        let hasty = {
            let room = Arc::clone(&room);
            second.start(move || {
                let soon = Some(shim::now() + Duration::from_secs(1));
                if let (Some(value), _) = room.take(&Spec::of(Reason::Recv).until(soon)) {
                    room.give(value);
                }
            })
        };
        let giver = room.giver(VALUE);
        let taken = block.play(|| room.take(&Spec::of(Reason::Recv)));
        assert_eq!(taken.0, Some(VALUE));
        join([hasty, giver]);
        room.close(&[]);
    });
}

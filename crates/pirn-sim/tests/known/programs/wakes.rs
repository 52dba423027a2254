//! Published bugs of waits: a wake that is lost, or that meets another wait.

use std::collections::VecDeque;
use std::mem::take;
use std::sync::Arc;

use super::Word;
use super::prelude::{Chan, Condvar, Mutex, spawn};

const RUNNING: usize = 0;
const PARKING: usize = 1;
const PARKED: usize = 2;
const WOKEN: usize = 3;

/// State, ticket and a latch for early wakes in three words, as a specification of fibers has
/// them. In the fixed program one word has all of it, so one exchange checks and claims.
pub(super) fn ticket_apart_from_the_claim(fixed: bool) {
    #[derive(Default)]
    struct Waiter {
        /// In the fixed program four times the ticket, plus the state.
        state: Word,
        ticket: Word,
        latch: Word,
    }
    struct Shared {
        waiter: Waiter,
        ready: Chan<()>,
        /// For each waker its value, and the ticket of the wait for it; 0 is none.
        values: [Word; 3],
        slots: [Word; 3],
    }
    impl Shared {
        /// Waits until one of these wakers has set its value.
        fn wait(&self, ticket: usize, wakers: &[usize], fixed: bool) {
            let waiter = &self.waiter;
            let own = if fixed { 4 * ticket } else { 0 };
            if fixed {
                waiter.state.store(own + RUNNING);
            } else {
                waiter.latch.store(0);
                waiter.state.store(PARKING);
                waiter.ticket.store(ticket);
            }
            for waker in wakers {
                self.slots[*waker].store(ticket);
            }
            let is_ready = |waker: &usize| self.values[*waker].load() == 1;
            if wakers.iter().any(is_ready) {
                let unlinked = |waker: &&usize| self.slots[**waker].swap(0) == ticket;
                // A waker that has taken its slot already is going to wake.
                if wakers.iter().filter(unlinked).count() == wakers.len() {
                    return waiter.state.store(own + RUNNING);
                }
            }
            if fixed {
                if waiter.state.exchange(own + RUNNING, own + PARKED) {
                    self.ready.recv();
                }
            } else {
                assert!(waiter.state.exchange(PARKING, PARKED));
                let was_early = waiter.latch.swap(0) == 1;
                if !(was_early && waiter.state.exchange(PARKED, WOKEN)) {
                    self.ready.recv();
                }
                waiter.state.store(RUNNING);
            }
            for waker in wakers {
                self.slots[*waker].swap(0);
            }
            assert!(wakers.iter().any(is_ready), "woken by an earlier waker");
        }

        fn wake(&self, waker: usize, fixed: bool) {
            self.values[waker].store(1);
            let ticket = self.slots[waker].swap(0);
            if ticket == 0 {
                return;
            }
            let waiter = &self.waiter;
            if fixed {
                let own = 4 * ticket;
                if waiter.state.exchange(own + RUNNING, own + WOKEN) {
                    return;
                }
                if waiter.state.exchange(own + PARKED, own + WOKEN) {
                    self.ready.send(());
                }
                return;
            }
            let state = waiter.state.load();
            if state == PARKING {
                waiter.latch.store(1);
            } else if state == PARKED
                && waiter.ticket.load() == ticket
                && waiter.state.exchange(PARKED, WOKEN)
            {
                self.ready.send(());
            }
        }
    }
    let shared = Arc::new(Shared {
        waiter: Waiter::default(),
        ready: Chan::new(4),
        values: Default::default(),
        slots: Default::default(),
    });
    let waiting = Arc::clone(&shared);
    let fiber = spawn(move || {
        waiting.wait(1, &[0, 1], fixed);
        waiting.wait(2, &[2], fixed);
    });
    let wakers = [0, 1, 2].map(|waker| {
        let shared = Arc::clone(&shared);
        spawn(move || shared.wake(waker, fixed))
    });
    fiber.join().unwrap();
    wakers.into_iter().for_each(|it| it.join().unwrap());
}

/// A wake of a coroutine that has unlocked its channel, but has not parked yet, is ignored.
pub(super) fn wake_before_the_park(fixed: bool) {
    struct Coroutine {
        state: Word,
        resume: Chan<()>,
    }
    impl Coroutine {
        fn new() -> Arc<Coroutine> {
            Arc::new(Coroutine {
                state: Word::default(),
                resume: Chan::new(1),
            })
        }

        fn park(&self, fixed: bool) {
            if fixed {
                if self.state.exchange(RUNNING, PARKED) {
                    self.resume.recv();
                }
            } else {
                self.state.store(PARKED);
                self.resume.recv();
            }
            self.state.store(RUNNING);
        }

        fn wake(&self, fixed: bool) {
            let was_parked = if fixed {
                self.state.swap(WOKEN) == PARKED
            } else {
                self.state.exchange(PARKED, RUNNING)
            };
            if was_parked {
                self.resume.send(());
            }
        }
    }
    /// The side that has come first waits: a sender with its value, or a receiver with a place.
    #[derive(Default)]
    struct Rendezvous {
        sender: Option<(usize, Arc<Coroutine>)>,
        receiver: Option<Arc<Coroutine>>,
        handed: Option<usize>,
    }
    let channel = Arc::new(Mutex::new(Rendezvous::default()));
    let sending = Arc::clone(&channel);
    let sender = spawn(move || {
        let own = Coroutine::new();
        for value in 0..3 {
            let mut state = sending.lock();
            if let Some(receiver) = state.receiver.take() {
                state.handed = Some(value);
                drop(state);
                receiver.wake(fixed);
            } else {
                state.sender = Some((value, Arc::clone(&own)));
                drop(state);
                own.park(fixed);
            }
        }
    });
    let receiver = spawn(move || {
        let own = Coroutine::new();
        for expected in 0..3 {
            let mut state = channel.lock();
            let value = if let Some((value, sender)) = state.sender.take() {
                drop(state);
                sender.wake(fixed);
                Some(value)
            } else {
                state.receiver = Some(Arc::clone(&own));
                drop(state);
                own.park(fixed);
                channel.lock().handed.take()
            };
            assert_eq!(value, Some(expected));
        }
    });
    sender.join().unwrap();
    receiver.join().unwrap();
}

/// The flag that tells posts to look for waiters is cleared while other waiters are linked.
pub(super) fn flag_of_the_waiters(fixed: bool) {
    #[derive(Default)]
    struct Semaphore {
        count: Word,
        has_waiters: Word,
        waiters: Mutex<VecDeque<Arc<Chan<()>>>>,
    }
    impl Semaphore {
        fn take(&self) -> bool {
            loop {
                let count = self.count.load();
                if count == 0 || self.count.exchange(count, count - 1) {
                    return count > 0;
                }
            }
        }

        fn wait(&self) {
            loop {
                let own = Arc::new(Chan::new(1));
                let mut waiters = self.waiters.lock();
                self.has_waiters.store(1);
                if self.take() {
                    return self.has_waiters.store(usize::from(!waiters.is_empty()));
                }
                waiters.push_back(Arc::clone(&own));
                drop(waiters);
                own.recv();
            }
        }

        fn post(&self, fixed: bool) {
            self.count.add(1);
            if self.has_waiters.load() == 0 {
                return;
            }
            let mut waiters = self.waiters.lock();
            let first = waiters.pop_front();
            let are_left = fixed && !waiters.is_empty();
            self.has_waiters.store(usize::from(are_left));
            drop(waiters);
            if let Some(first) = first {
                first.send(());
            }
        }
    }
    let semaphore = Arc::new(Semaphore::default());
    let waiters = [(); 2].map(|()| {
        let semaphore = Arc::clone(&semaphore);
        spawn(move || semaphore.wait())
    });
    for _ in 0..2 {
        semaphore.post(fixed);
    }
    waiters.into_iter().for_each(|it| it.join().unwrap());
}

/// The last receiver of a value notifies the sender, which checks under a lock, without this lock.
pub(super) fn tokio_2134(fixed: bool) {
    struct Slot {
        readers: Word,
        tail: Mutex<()>,
        is_free: Condvar,
    }
    let slot = Arc::new(Slot {
        readers: Word::default(),
        tail: Mutex::new(()),
        is_free: Condvar::new(),
    });
    slot.readers.store(2);
    let readers = [(); 2].map(|()| {
        let slot = Arc::clone(&slot);
        spawn(move || {
            if slot.readers.add(usize::MAX) == 1 {
                if fixed {
                    drop(slot.tail.lock());
                }
                slot.is_free.notify_one();
            }
        })
    });
    let mut tail = slot.tail.lock();
    while slot.readers.load() != 0 {
        tail = slot.is_free.wait(tail);
    }
    drop(tail);
    readers.into_iter().for_each(|it| it.join().unwrap());
}

/// All waiters are notified in batches, and without the lock between them: waiters that come
/// meanwhile are notified too. A batch has 32 waiters in the original.
pub(super) fn tokio_5396(fixed: bool) {
    const BATCH: usize = 2;
    type Waiters = VecDeque<Arc<Chan<()>>>;
    struct Notify {
        calls: Word,
        waiters: Mutex<Waiters>,
        has_come: Chan<()>,
    }
    impl Notify {
        fn wait(&self) {
            let own = Arc::new(Chan::new(1));
            self.waiters.lock().push_back(Arc::clone(&own));
            self.has_come.send(());
            own.recv();
        }

        fn notify_waiters(&self, fixed: bool) {
            self.calls.add(1);
            let mut own = match fixed {
                true => take(&mut *self.waiters.lock()),
                false => Waiters::new(),
            };
            loop {
                let mut waiters = self.waiters.lock();
                let all = if fixed { &mut own } else { &mut *waiters };
                let batch: Vec<_> = all.drain(..all.len().min(BATCH)).collect();
                let is_last = all.is_empty();
                drop(waiters);
                batch.into_iter().for_each(|waiter| waiter.send(()));
                if is_last {
                    return;
                }
            }
        }
    }
    let notify = Arc::new(Notify {
        calls: Word::default(),
        waiters: Mutex::new(VecDeque::new()),
        has_come: Chan::new(3),
    });
    let waiters = [(); 3].map(|()| {
        let notify = Arc::clone(&notify);
        spawn(move || {
            notify.wait();
            notify.wait();
            assert_eq!(notify.calls.load(), 2, "notified by an earlier call");
        })
    });
    for _ in 0..2 {
        (0..3).for_each(|_| notify.has_come.recv());
        notify.notify_waiters(fixed);
    }
    waiters.into_iter().for_each(|it| it.join().unwrap());
}

/// A notification for a value that the receiver has seen already ends its next wait, which then
/// finds no change.
pub(super) fn tokio_3168(fixed: bool) {
    #[derive(Default)]
    struct Watch {
        value: Mutex<usize>,
        version: Word,
        notifications: Mutex<usize>,
        notified: Condvar,
    }
    impl Watch {
        fn send(&self, value: usize) {
            *self.value.lock() = value;
            self.version.add(1);
            *self.notifications.lock() += 1;
            self.notified.notify_all();
        }

        fn changed(&self, seen: &mut usize, fixed: bool) {
            let has_changed = |seen: &mut usize| {
                let version = self.version.load();
                std::mem::replace(seen, version) != version
            };
            loop {
                let before = *self.notifications.lock();
                if has_changed(seen) {
                    return;
                }
                let mut now = self.notifications.lock();
                while *now == before {
                    now = self.notified.wait(now);
                }
                drop(now);
                if has_changed(seen) {
                    return;
                }
                assert!(fixed, "no change after a notification");
            }
        }
    }
    let watch = Arc::new(Watch::default());
    let sending = Arc::clone(&watch);
    let sender = spawn(move || [1, 2].map(|value| sending.send(value)));
    let receiver = spawn(move || {
        let mut seen = 0;
        while *watch.value.lock() != 2 {
            watch.changed(&mut seen, fixed);
        }
    });
    sender.join().unwrap();
    receiver.join().unwrap();
}

//! Random programs on reader-writer locks and semaphores, each compared with a short model. One
//! worker runs everything, so after each step all fibers are at rest.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pirn::scope::ScopedJoinHandle;
use pirn::sync::{AcquireError, Mutex, Permit, RwLock, RwLockWriteGuard, Semaphore};
use pirn::{Interrupt, channel};

use crate::executor_kind::alone;
use crate::util::{Dice, scaled};

/// Lets all ready fibers run.
fn rest() {
    for _ in 0..8 {
        pirn::yield_now();
    }
}

/// A semaphore, as a counter and a queue.
#[derive(Default)]
struct Count {
    free: usize,
    closed: bool,
    waiting: VecDeque<(usize, usize)>,
    served: BTreeMap<usize, usize>,
}

impl Count {
    fn ask(&mut self, id: usize, k: usize) {
        if !self.closed {
            self.waiting.push_back((id, k));
            self.serve();
        }
    }

    fn serve(&mut self) {
        while let Some((id, k)) = self.waiting.pop_front_if(|(_, k)| *k <= self.free) {
            self.free -= k;
            self.served.insert(id, k);
        }
    }

    fn give(&mut self, k: usize) {
        self.free += k;
        if !self.closed {
            self.serve();
        }
    }

    fn leave(&mut self, id: usize) {
        self.waiting.retain(|(waiting, _)| *waiting != id);
        self.serve();
    }
}

fn semaphore_program(seed: u64, steps: usize) {
    let mut dice = Dice(seed);
    let start = dice.below(4);
    let semaphore = Semaphore::new(start);
    let permits: Mutex<BTreeMap<usize, Permit<'_>>> = Mutex::new(BTreeMap::new());
    let mut count = Count {
        free: start,
        ..Count::default()
    };
    pirn::scope(|s| {
        let mut fibers: BTreeMap<usize, ScopedJoinHandle<'_, _>> = BTreeMap::new();
        for step in 0..steps {
            match dice.below(16) {
                0..=5 => {
                    let k = dice.below(4);
                    let (semaphore, permits) = (&semaphore, &permits);
                    let fiber = s.spawn(move || {
                        let permit = semaphore.acquire(k);
                        permit.map(|permit| drop(permits.lock().insert(step, permit)))
                    });
                    fibers.insert(step, fiber);
                    count.ask(step, k);
                }
                6..=8 => {
                    if let Some(id) = dice.one_of(count.served.keys().copied()) {
                        drop(permits.lock().remove(&id));
                        let k = count.served.remove(&id).unwrap();
                        count.give(k);
                    }
                }
                9 => {
                    if let Some(id) = dice.one_of(count.served.keys().copied()) {
                        permits.lock().remove(&id).unwrap().forget();
                        count.served.remove(&id);
                    }
                }
                10..=12 => {
                    if let Some((id, _)) = dice.one_of(count.waiting.iter().copied()) {
                        fibers[&id].cancel();
                        count.leave(id);
                        rest();
                        let ended = fibers.remove(&id).unwrap().join().unwrap();
                        let interrupted = AcquireError::Interrupted(Interrupt::Cancelled);
                        assert_eq!(ended, Err(interrupted), "seed {seed} step {step}");
                    }
                }
                13 => {
                    let k = dice.below(3);
                    semaphore.add(k);
                    count.give(k);
                }
                14 => {
                    let k = dice.below(3);
                    let there =
                        !count.closed && count.waiting.is_empty() && k <= count.free;
                    let permit = semaphore.try_acquire(k);
                    assert_eq!(permit.is_some(), there, "seed {seed} step {step}");
                }
                _ if step > steps / 2 && dice.below(8) == 0 => {
                    semaphore.close();
                    count.closed = true;
                    rest();
                    for (id, _) in count.waiting.drain(..) {
                        let ended = fibers.remove(&id).unwrap().join().unwrap();
                        assert_eq!(ended, Err(AcquireError::Closed));
                    }
                }
                _ => {}
            }
            rest();
            let served: BTreeSet<usize> = permits.lock().keys().copied().collect();
            assert!(
                served.iter().eq(count.served.keys()),
                "seed {seed} step {step}: {served:?} are served, not {:?}",
                count.served
            );
            assert_eq!(semaphore.available(), count.free, "seed {seed} step {step}");
        }
        semaphore.close();
        permits.lock().clear();
    });
}

#[test]
fn a_semaphore_agrees_with_a_count() {
    alone(|| (1..=scaled(150) as u64).for_each(|seed| semaphore_program(seed, 200)));
}

/// A reader-writer lock, as a set and a queue.
#[derive(Default)]
struct Room {
    readers: BTreeSet<usize>,
    writer: Option<usize>,
    waiting: VecDeque<(usize, bool)>,
}

impl Room {
    fn ask(&mut self, id: usize, write: bool) {
        self.waiting.push_back((id, write));
        self.admit();
    }

    fn admit(&mut self) {
        while let Some(&(id, write)) = self.waiting.front() {
            if self.writer.is_some() || write && !self.readers.is_empty() {
                return;
            }
            self.waiting.pop_front();
            if write {
                self.writer = Some(id);
            } else {
                self.readers.insert(id);
            }
        }
    }

    fn leave(&mut self, id: usize) {
        self.readers.remove(&id);
        self.writer = self.writer.filter(|writer| *writer != id);
        self.waiting.retain(|(waiting, _)| *waiting != id);
        self.admit();
    }

    fn inside(&self) -> impl Iterator<Item = usize> {
        self.readers.iter().copied().chain(self.writer)
    }
}

/// The command to the holder of the lock.
enum Order {
    Downgrade,
    Leave,
}

fn rwlock_program(seed: u64, steps: usize) {
    let mut dice = Dice(seed);
    let lock = RwLock::new(());
    // The holders, and whether each writes.
    let inside: Mutex<BTreeMap<usize, bool>> = Mutex::new(BTreeMap::new());
    let mut room = Room::default();
    pirn::scope(|s| {
        let mut fibers = BTreeMap::new();
        for step in 0..steps {
            match dice.below(12) {
                0..=4 => {
                    let write = dice.below(3) == 0;
                    let (orders, told) = channel::bounded(2);
                    let (lock, inside) = (&lock, &inside);
                    let fiber = s.spawn(move || {
                        let enter = |write| {
                            inside.lock().insert(step, write);
                        };
                        if write {
                            let guard = lock.write_interruptible()?;
                            enter(true);
                            if let Ok(Order::Downgrade) = told.recv() {
                                let _guard = RwLockWriteGuard::downgrade(guard);
                                enter(false);
                                drop(told.recv());
                                inside.lock().remove(&step);
                            } else {
                                inside.lock().remove(&step);
                            }
                        } else {
                            let _guard = lock.read_interruptible()?;
                            enter(false);
                            drop(told.recv());
                            inside.lock().remove(&step);
                        }
                        Ok(())
                    });
                    fibers.insert(step, (fiber, orders));
                    room.ask(step, write);
                }
                5..=7 => {
                    if let Some(id) = dice.one_of(room.inside()) {
                        let (fiber, orders) = fibers.remove(&id).unwrap();
                        orders.send(Order::Leave).unwrap();
                        room.leave(id);
                        assert_eq!(fiber.join().unwrap(), Ok(()));
                    }
                }
                8..=9 => {
                    if let Some((id, _)) = dice.one_of(room.waiting.iter().copied()) {
                        let (fiber, _orders) = fibers.remove(&id).unwrap();
                        fiber.cancel();
                        room.leave(id);
                        let ended = fiber.join().unwrap();
                        assert_eq!(ended, Err(Interrupt::Cancelled));
                    }
                }
                10 => {
                    if let Some(id) = room.writer.take() {
                        fibers[&id].1.send(Order::Downgrade).unwrap();
                        room.readers.insert(id);
                        room.admit();
                    }
                }
                _ => {
                    let (idle, is_first) =
                        (room.inside().next().is_none(), room.waiting.is_empty());
                    let read = room.writer.is_none() && is_first;
                    assert_eq!(lock.try_read().is_some(), read, "seed {seed}");
                    assert_eq!(lock.try_write().is_some(), idle, "seed {seed}");
                }
            }
            rest();
            let should: BTreeMap<usize, bool> = room
                .inside()
                .map(|id| (id, room.writer == Some(id)))
                .collect();
            assert_eq!(*inside.lock(), should, "seed {seed} step {step}");
        }
        // Without commands, every holder leaves in turn.
        fibers.clear();
    });
    assert!(lock.try_write().is_some());
}

#[test]
fn a_reader_writer_lock_agrees_with_a_room() {
    alone(|| (1..=scaled(150) as u64).for_each(|seed| rwlock_program(seed, 200)));
}

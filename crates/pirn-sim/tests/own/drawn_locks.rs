//! Programs on locks, permits and condition variables that are drawn from the seed of the run.

use std::sync::atomic::{AtomicUsize, Ordering};

use fastrand::Rng;
use pirn::cancel::Token;
use pirn::sync::Semaphore;
use pirn::sync::{Condvar, Mutex, RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard};
use pirn::{scope, time};

use crate::drawn::{length, rng};
use crate::{MOMENT, check};

/// Lets others run.
fn pause(rng: &mut Rng) {
    match rng.u32(..3) {
        0 => pirn_sim::point(),
        1 => pirn::yield_now(),
        _ => _ = time::sleep(length(rng)),
    }
}

/// Runs `step` in three fibers, four times each, with a generator for each fiber. The fibers but
/// the first are under a token that is cancelled at some time.
fn run(step: impl Fn(&mut Rng) + Sync) {
    let mut rng = rng();
    let token = Token::new();
    scope(|s| {
        for fiber in 0..3 {
            let (mut rng, step, token) = (rng.fork(), &step, token.clone());
            s.spawn(move || {
                for _ in 0..4 {
                    match fiber {
                        0 => step(&mut rng),
                        _ => token.enter(|| step(&mut rng)),
                    }
                }
            });
        }
        let _ = time::sleep(length(&mut rng));
        token.cancel();
    });
}

/// A lock with a count of those that read or write it.
#[derive(Default)]
struct Shared {
    lock: RwLock<usize>,
    readers: AtomicUsize,
    writers: AtomicUsize,
    writes: AtomicUsize,
}

impl Shared {
    fn step(&self, rng: &mut Rng) {
        match rng.u32(..9) {
            0 => self.read(rng, &self.lock.read()),
            1 => self.write(rng, &mut self.lock.write()),
            2 => _ = self.lock.try_read().map(|it| self.read(rng, &it)),
            3 => _ = self.lock.try_write().map(|mut it| self.write(rng, &mut it)),
            4 => {
                let guard = self.lock.read_timeout(length(rng));
                _ = guard.map(|it| self.read(rng, &it));
            }
            5 => {
                let guard = self.lock.write_timeout(length(rng));
                _ = guard.map(|mut it| self.write(rng, &mut it));
            }
            6 => {
                let guard = self.lock.read_interruptible();
                _ = guard.map(|it| self.read(rng, &it));
            }
            7 => {
                let Ok(mut guard) = self.lock.write_interruptible() else {
                    return;
                };
                self.write(rng, &mut guard);
                let guard = RwLockWriteGuard::downgrade(guard);
                self.read(rng, &guard);
            }
            _ => self.upgrade(rng),
        }
    }

    fn upgrade(&self, rng: &mut Rng) {
        let guard = match rng.bool() {
            true => Some(self.lock.upgradable_read()),
            false => self.lock.try_upgradable_read(),
        };
        let Some(guard) = guard else { return };
        self.read(rng, &guard);
        let seen = *guard;
        let mut guard = match rng.u32(..3) {
            0 => return self.read(rng, &RwLockUpgradableReadGuard::downgrade(guard)),
            1 => RwLockUpgradableReadGuard::upgrade(guard),
            _ => match RwLockUpgradableReadGuard::try_upgrade(guard) {
                Ok(guard) => guard,
                Err(guard) => return self.read(rng, &guard),
            },
        };
        assert_eq!(*guard, seen, "no other writer comes between");
        self.write(rng, &mut guard);
    }

    fn read(&self, rng: &mut Rng, value: &usize) {
        let before = *value;
        self.readers.fetch_add(1, Ordering::Relaxed);
        assert_eq!(self.writers.load(Ordering::Relaxed), 0);
        pause(rng);
        assert_eq!(self.writers.load(Ordering::Relaxed), 0);
        self.readers.fetch_sub(1, Ordering::Relaxed);
        assert_eq!(*value, before);
    }

    fn write(&self, rng: &mut Rng, value: &mut usize) {
        assert_eq!(self.writers.fetch_add(1, Ordering::Relaxed), 0);
        assert_eq!(self.readers.load(Ordering::Relaxed), 0);
        pause(rng);
        *value += 1;
        self.writes.fetch_add(1, Ordering::Relaxed);
        assert_eq!(self.readers.load(Ordering::Relaxed), 0);
        assert_eq!(self.writers.fetch_sub(1, Ordering::Relaxed), 1);
    }
}

// Proves: U30-drawn.
#[test]
fn drawn_readers_and_writers_exclude_each_other() {
    check(|| {
        let shared = Shared::default();
        run(|rng| shared.step(rng));
        assert!(shared.lock.try_write().is_some());
        assert_eq!(shared.lock.into_inner(), shared.writes.into_inner());
    });
}

// Proves: U30-drawn.
#[test]
fn drawn_requests_for_permits_add_up() {
    check(|| {
        let permits = Semaphore::new(2);
        let (total, used) = (AtomicUsize::new(2), AtomicUsize::new(0));
        run(|rng| {
            let want = rng.usize(1..=3);
            let taken = match rng.u32(..6) {
                0 => permits.try_acquire(want),
                1 => {
                    total.fetch_add(1, Ordering::Relaxed);
                    permits.add(1);
                    None
                }
                2 => {
                    let removed = permits.forget_permits(1);
                    total.fetch_sub(removed, Ordering::Relaxed);
                    None
                }
                3 if rng.u32(..6) == 0 => {
                    permits.close();
                    None
                }
                _ => permits.acquire_timeout(want, length(rng)).ok().flatten(),
            };
            let Some(mut permit) = taken else { return };
            let now = used.fetch_add(want, Ordering::Relaxed) + want;
            assert!(now <= total.load(Ordering::Relaxed));
            pause(rng);
            if rng.bool()
                && let Some(part) = permit.split(1)
            {
                used.fetch_sub(1, Ordering::Relaxed);
                match rng.bool() {
                    true => drop(part),
                    false => {
                        total.fetch_sub(1, Ordering::Relaxed);
                        part.forget();
                    }
                }
                pause(rng);
            }
            used.fetch_sub(permit.num_permits(), Ordering::Relaxed);
        });
        assert_eq!(used.into_inner(), 0);
        assert_eq!(permits.available(), total.into_inner());
    });
}

/// Each notification ends the wait of one waiter, and no wait ends without one, a limit or a
/// cancellation.
// Proves: U30-drawn.
#[test]
fn drawn_notifications_add_up() {
    check(|| {
        let (lock, changed) = (Mutex::new(()), Condvar::new());
        let (notified, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        run(|rng| {
            let is_notified = match rng.u32(..5) {
                0 => {
                    let woken = changed.notify_one();
                    notified.fetch_add(usize::from(woken), Ordering::Relaxed);
                    return;
                }
                1 => {
                    notified.fetch_add(changed.notify_all(), Ordering::Relaxed);
                    return;
                }
                2 => {
                    let begun = time::now();
                    let waited = pirn::timeout(MOMENT, || {
                        let waited = changed.wait_interruptible(lock.lock());
                        waited.is_ok()
                    });
                    assert!(waited.is_ok() || time::now() - begun >= MOMENT);
                    waited.is_ok_and(|it| it)
                }
                _ => {
                    let limit = length(rng);
                    let guard = match lock.try_lock() {
                        Some(guard) => guard,
                        None => lock.lock(),
                    };
                    pause(rng);
                    !changed.wait_timeout(guard, limit).1.timed_out()
                }
            };
            ended.fetch_add(usize::from(is_notified), Ordering::Relaxed);
        });
        assert_eq!(notified.into_inner(), ended.into_inner());
        assert!(lock.try_lock().is_some());
    });
}

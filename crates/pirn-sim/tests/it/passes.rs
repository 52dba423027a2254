//! Correct programs pass in all schedules.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pirn::channel;
use pirn::sync::{Condvar, Mutex, RwLock};
use pirn_sim::{Strategy, campaign};

const SECOND: Duration = Duration::from_secs(1);

// Proves: U2.
#[test]
fn a_queue_with_a_condition() {
    campaign().runs(3_000).check(|| {
        let queue = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let other = Arc::clone(&queue);
        let receiver = pirn::spawn(move || {
            let mut all = Vec::new();
            while all.len() < 3 {
                let guard = other.0.lock();
                let mut guard = other.1.wait_while(guard, |queue| queue.is_empty());
                all.append(&mut guard);
            }
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2]);
        });
        let send = |value| {
            let queue = Arc::clone(&queue);
            pirn::spawn(move || {
                queue.0.lock().push(value);
                queue.1.notify_one();
            })
        };
        let senders: Vec<_> = (0..3).map(send).collect();
        senders.into_iter().for_each(|fiber| fiber.join().unwrap());
        receiver.join().unwrap();
    });
}

// Proves: U2.
#[test]
fn channels_selects_and_limits() {
    campaign().runs(3_000).check(|| {
        let (tx, rx) = channel::bounded(1);
        let (done, is_done) = channel::bounded::<()>(0);
        let sum = pirn::scope(|s| {
            for value in 1..=3 {
                let tx = tx.clone();
                s.spawn(move || tx.send(value).unwrap());
            }
            drop(tx);
            let adder = s.spawn(|| {
                let mut sum = 0;
                loop {
                    pirn::select! {
                        recv(rx) -> value => match value {
                            Ok(value) => sum += value,
                            Err(_) => break,
                        },
                        recv(is_done) -> _ => unreachable!("it is never done"),
                    }
                }
                sum
            });
            adder.join().unwrap()
        });
        drop(done);
        assert_eq!(sum, 6);
        let lock = RwLock::new(0);
        let limited = pirn::timeout(SECOND, || {
            *lock.write() += 1;
            pirn::sleep(2 * SECOND)
        });
        assert!(limited.is_err(), "time passes");
        assert_eq!(*lock.read(), 1);
    });
}

/// Loops that wait for another fiber end in each strategy.
// Proves: U2.
#[test]
fn loops_that_wait() {
    let all = [
        Strategy::Portfolio,
        Strategy::Random,
        Strategy::Pct { depth: 3 },
        Strategy::Delays { most: 2 },
        Strategy::Exhaustive { preemptions: 0 },
    ];
    for strategy in all {
        campaign()
            .strategy(strategy)
            .runs(300)
            .choices(20_000)
            .check(|| {
                let (tx, rx) = channel::bounded(1);
                let sender = pirn::spawn(move || tx.send(7).unwrap());
                while rx.is_empty() {
                    pirn::yield_now();
                }
                sender.join().unwrap();
                assert_eq!(rx.recv(), Ok(7));

                // Two that hand over to each other do not starve a third one.
                let (to, from) = (channel::bounded(0), channel::bounded(0));
                let (done, is_done) = channel::bounded::<()>(1);
                let (other_in, other_out) = (to.1, from.0);
                let other = pirn::spawn(move || {
                    while other_in.recv().is_ok_and(|()| other_out.send(()).is_ok()) {}
                });
                let third = pirn::spawn(move || done.send(()).unwrap());
                loop {
                    pirn::select! {
                        recv(is_done) -> _ => break,
                        default => {}
                    }
                    to.0.send(()).unwrap();
                    from.1.recv().unwrap();
                }
                drop((to.0, from.1));
                other.join().unwrap();
                third.join().unwrap();
            });
    }
}

/// A search reaches each of the six orders of two fibers with two operations each.
// Proves: U3.
#[test]
fn a_search_has_all_schedules() {
    let runs = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&runs);
    let seen = Arc::new(std::sync::Mutex::new(std::collections::HashSet::new()));
    let all = Arc::clone(&seen);
    let search = campaign().strategy(Strategy::Exhaustive { preemptions: 9 });
    search.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let order = Arc::new(std::sync::Mutex::new(Vec::new()));
        let fiber = |name: char| {
            let order = Arc::clone(&order);
            pirn::spawn(move || {
                for _ in 0..2 {
                    pirn_sim::point();
                    order.lock().unwrap().push(name);
                }
            })
        };
        let fibers = [fiber('a'), fiber('b')];
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        let order: String = order.lock().unwrap().iter().collect();
        all.lock().unwrap().insert(order);
    });
    // "aabb", "abab", "abba", "baab", "baba", "bbaa".
    assert_eq!(seen.lock().unwrap().len(), 6, "{seen:?}");
    assert!(runs.load(Ordering::Relaxed) >= 6);
}

//! Fairness: no source of work starves another one, on a single worker too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::runtime::Spread;
use pirn::spawn::Fiber;
use pirn::time::{now, sleep};
use pirn::{Runtime, channel, park};

use crate::executor_kind::{alone, runtime};
use crate::figures::{percentile, within};
use crate::util::{SCHEDULERS, compute_until, eventually, scaled, shaped};

/// Yields until `flag` is set.
fn yield_until(flag: &AtomicBool) {
    while !flag.load(Ordering::SeqCst) {
        pirn::yield_now();
    }
}

/// A loop that yields until a flag is set ends on one worker, wherever the flag is set: by
/// a fiber that never ran, one that waits behind it, one from outside, one that a timer wakes.
// Proves: A3, D-3.
#[test]
fn a_loop_of_yields_lets_all_others_run() {
    for scheduler in SCHEDULERS {
        let runtime = shaped(1, scheduler);
        for setter in ["fresh", "started", "outside", "timer", "thread"] {
            let flag = Arc::new(AtomicBool::new(false));
            let set = {
                let flag = Arc::clone(&flag);
                move || flag.store(true, Ordering::SeqCst)
            };
            let handle = runtime.handle();
            runtime.run(|| {
                match setter {
                    "fresh" => drop(pirn::spawn(set)),
                    "started" => {
                        pirn::spawn(move || {
                            (0..100).for_each(|_| pirn::yield_now());
                            set();
                        });
                    }
                    "outside" => drop(std::thread::spawn(move || handle.spawn(set))),
                    "timer" => {
                        pirn::spawn(move || {
                            sleep(Duration::from_millis(2)).unwrap();
                            set();
                        });
                    }
                    _ => {
                        let parked = pirn::spawn(move || {
                            park();
                            set();
                        });
                        let fiber = parked.fiber().clone();
                        std::thread::spawn(move || fiber.unpark());
                    }
                }
                yield_until(&flag);
            });
        }
    }
}

/// Of three fibers that one wakes, the last one runs next, and those that it displaced run after
/// it, in their order.
// Where fibers may migrate, another worker may take those.
// Proves: B4.
#[cfg(not(pirn_free))]
#[test]
fn the_last_woken_runs_next() {
    let ran = alone(|| {
        let order = std::sync::Mutex::new(Vec::new());
        let parked = AtomicUsize::new(0);
        pirn::scope(|s| {
            let (order, parked) = (&order, &parked);
            let fibers = ["first", "second", "third"].map(|name| {
                s.spawn(move || {
                    parked.fetch_add(1, Ordering::SeqCst);
                    park();
                    order.lock().unwrap().push(name);
                })
            });
            crate::executor_kind::until(parked, fibers.len());
            fibers.iter().for_each(|fiber| fiber.fiber().unpark());
        });
        order.into_inner().unwrap()
    });
    assert_eq!(ran, ["third", "first", "second"]);
}

/// Two fibers that wake each other without end do not keep a third from running.
// Proves: B5, D-5.
#[test]
fn two_that_wake_each_other_do_not_shut_out_a_third() {
    alone(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let turns = Arc::new(AtomicUsize::new(0));
        let (to_first, my_partner) = channel::bounded::<Fiber>(1);
        let first = {
            let (stop, turns) = (Arc::clone(&stop), Arc::clone(&turns));
            pirn::spawn(move || {
                let partner = my_partner.recv().unwrap();
                while !stop.load(Ordering::SeqCst) {
                    turns.fetch_add(1, Ordering::SeqCst);
                    partner.unpark();
                    park();
                }
                partner.unpark();
            })
        };
        let second = {
            let (stop, partner) = (Arc::clone(&stop), first.fiber().clone());
            pirn::spawn(move || {
                to_first.send(pirn::current()).unwrap();
                while !stop.load(Ordering::SeqCst) {
                    park();
                    partner.unpark();
                }
                partner.unpark();
            })
        };
        // Both this fiber, started long ago, and a fresh one get their turns.
        let mut worst = 0;
        while turns.load(Ordering::SeqCst) < 1_000 {
            let before = turns.load(Ordering::SeqCst);
            pirn::yield_now();
            worst = worst.max(turns.load(Ordering::SeqCst) - before);
        }
        let before = turns.load(Ordering::SeqCst);
        let seen = Arc::clone(&turns);
        let fresh = pirn::spawn(move || seen.load(Ordering::SeqCst));
        pirn::spawn(|| ()).join().unwrap();
        let waited = fresh.join().unwrap() - before;
        stop.store(true, Ordering::SeqCst);
        first.join().unwrap();
        second.join().unwrap();
        assert!(worst <= 2, "{worst} turns between two of a third fiber");
        assert!(waited <= 64, "{waited} turns before a fresh fiber ran");
    });
}

/// A fiber from outside starts soon though its worker never runs out of fibers: 99 of 100 within 5
/// ms.
// Proves: D-2.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_fibers_from_outside_start_soon_under_load() {
    for scheduler in SCHEDULERS {
        let runtime = shaped(1, scheduler);
        let stop = Arc::new(AtomicBool::new(false));
        for _ in 0..200 {
            let stop = Arc::clone(&stop);
            runtime.spawn(move || yield_until(&stop));
        }
        eventually("the load is there", || {
            runtime.metrics().total.started == 200
        });
        start_soon(&runtime, &stop);
    }
}

/// The same while the load is fresh fibers that spawn their successors.
// Proves: D-2.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_fibers_from_outside_start_soon_behind_fresh_ones() {
    fn chain(stop: Arc<AtomicBool>) {
        if !stop.load(Ordering::SeqCst) {
            pirn::spawn(move || chain(stop)).detach();
        }
    }
    let runtime = runtime(1);
    let stop = Arc::new(AtomicBool::new(false));
    for _ in 0..100 {
        let stop = Arc::clone(&stop);
        runtime.spawn(move || chain(stop));
    }
    start_soon(&runtime, &stop);
}

/// Fibers from outside start within 5 ms, then the load ends.
fn start_soon(runtime: &Runtime, stop: &AtomicBool) {
    let mut waits: Vec<Duration> = (0..500)
        .map(|_| {
            let spawned = now();
            runtime.spawn(move || now() - spawned).join().unwrap()
        })
        .collect();
    stop.store(true, Ordering::SeqCst);
    within(
        "from spawn to run",
        percentile(&mut waits, 99),
        Duration::from_millis(5),
    );
}

/// Receivers of one channel share the values, though the sender could keep one busy.
// Proves: D-4.
#[test]
fn receivers_share_what_comes() {
    // Enough for a rate, under a sanitizer too.
    let rounds = scaled(100).max(40);
    let mut uneven = 0;
    for round in 0..rounds {
        // On two workers, of which one may sleep, the system determines the shares.
        let builder = Runtime::builder().workers(1 + round % 2);
        let runtime = builder.spread(Spread::Never).build().unwrap();
        let (tx, rx) = channel::bounded(16);
        let counts: Vec<usize> = runtime.run(|| {
            let receivers: Vec<_> = (0..4)
                .map(|_| {
                    let rx = rx.clone();
                    pirn::spawn(move || rx.iter().count())
                })
                .collect();
            (0..400).for_each(|i| tx.send(i).unwrap());
            drop(tx);
            receivers
                .into_iter()
                .map(|receiver| receiver.join().unwrap())
                .collect()
        });
        assert_eq!(counts.iter().sum::<usize>(), 400);
        uneven += usize::from(counts.contains(&0));
    }
    // Under a sanitizer the system interrupts a round more often, since it takes longer.
    let most = if rounds < 100 {
        rounds / 4
    } else {
        rounds / 20
    };
    assert!(
        uneven <= most,
        "a receiver got nothing in {uneven} of {rounds} rounds"
    );
}

/// D-7, B8. Fibers queued for a worker that is stuck in a system call are run by other
/// workers, including those that it had fetched already.
// Proves: B10.
#[test]
fn a_stuck_worker_keeps_no_fresh_fiber_back() {
    for scheduler in SCHEDULERS {
        for workers in [2, 4] {
            let runtime = shaped(workers, scheduler);
            for _ in 0..scaled(20) {
                let rest = Arc::new(AtomicUsize::new(0));
                let all: Vec<_> = (0..32)
                    .map(|i| {
                        let rest = Arc::clone(&rest);
                        runtime.spawn(move || {
                            if i == 0 {
                                eventually("the others run all the rest", || {
                                    rest.load(Ordering::SeqCst) == 31
                                });
                            } else {
                                rest.fetch_add(1, Ordering::SeqCst);
                            }
                        })
                    })
                    .collect();
                all.into_iter().for_each(|fiber| fiber.join().unwrap());
            }
        }
    }
}

/// B14. Fibers that never yield on all workers but one leave that one to run the rest.
// Proves: D-7.
#[test]
fn one_free_worker_serves_all_others() {
    for workers in [2, 4] {
        // No other thread, which would take what lies in the shards of the stuck workers.
        let builder = Runtime::builder().workers(workers).max_threads(workers);
        let runtime = builder.build().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let compute = || {
            let stop = Arc::clone(&stop);
            runtime.spawn(move || {
                compute_until("the end", || stop.load(Ordering::SeqCst));
            })
        };
        let stuck: Vec<_> = (1..workers).map(|_| compute()).collect();
        eventually("they compute", || {
            runtime.metrics().total.started == workers as u64 - 1
        });
        for i in 0..scaled(1_000) {
            assert_eq!(runtime.spawn(move || i).join().unwrap(), i);
        }
        stop.store(true, Ordering::SeqCst);
        stuck.into_iter().for_each(|fiber| fiber.join().unwrap());
    }
}

/// Computes for a millisecond of the clock.
fn compute_a_moment() {
    let until = now() + Duration::from_millis(1);
    while now() < until {
        std::hint::spin_loop();
    }
}

/// A fiber that finds a value at each receive, and computes a millisecond with it, yields after
/// tens of them, not after its whole budget; where the fibers of a worker do so, after two.
#[test]
fn a_fiber_that_computes_between_operations_gives_way() {
    const VALUES: usize = 120;
    let runtime = runtime(1);
    let gaps = runtime.run(|| {
        let (tx, rx) = channel::unbounded();
        (0..VALUES).for_each(|_| tx.send(()).unwrap());
        drop(tx);
        let done = Arc::new(AtomicUsize::new(0));
        let working = {
            let done = Arc::clone(&done);
            pirn::spawn(move || {
                for () in rx {
                    compute_a_moment();
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let mut gaps = Vec::new();
        let mut seen = 0;
        while seen < VALUES {
            pirn::yield_now();
            let now = done.load(Ordering::Relaxed);
            if now > seen {
                gaps.push(now - seen);
            }
            seen = now;
        }
        working.join().unwrap();
        gaps
    });
    assert!(gaps[0] <= 20, "values between turns of another: {gaps:?}");
    let late = gaps.iter().skip(8).max();
    assert!(
        late <= Some(&4),
        "values between turns of another: {gaps:?}"
    );
}

/// A receiver that takes the value of a sender of its worker, and then computes, lets that sender
/// resume first: it may have values for others.
#[test]
fn a_sender_goes_on_before_its_value_is_worked_on() {
    const VALUES: usize = 200;
    // By then the worker has completed a round, and has measured how long its fibers compute.
    const KNOWN: usize = 100;
    let runtime = runtime(1);
    let early = runtime.run(|| {
        let (tx, rx) = channel::bounded(0);
        let done = Arc::new(AtomicUsize::new(0));
        let working = {
            let done = Arc::clone(&done);
            pirn::spawn(move || {
                for () in rx {
                    compute_a_moment();
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let mut early = 0;
        for sent in 0..VALUES {
            tx.send(()).unwrap();
            // This value, which is number `sent`, has not been processed.
            if sent >= KNOWN && done.load(Ordering::Relaxed) <= sent {
                early += 1;
            }
        }
        drop(tx);
        working.join().unwrap();
        early
    });
    // Otherwise it would be every second one.
    assert!(early > (VALUES - KNOWN) * 3 / 4, "{early} of {VALUES}");
}

/// The lengths of the runs of equal values, except for the first run.
fn later_streaks(jobs: &[usize]) -> Vec<usize> {
    let runs = jobs.chunk_by(|a, b| a == b).map(<[usize]>::len);
    runs.skip(1).collect()
}

/// Fibers of a pool that take jobs from a locked queue, all of which are ready, take turns: the
/// first one is measured, and the others yield after a few jobs.
#[test]
fn fibers_with_jobs_from_a_locked_queue_take_turns() {
    const FIBERS: usize = 8;
    const JOBS: usize = 120;
    let took = alone(|| {
        let queue = (
            pirn::sync::Mutex::new((0, Vec::new())),
            pirn::sync::Condvar::new(),
        );
        pirn::scope(|s| {
            let (jobs, changed) = &queue;
            for number in 0..FIBERS {
                s.spawn(move || {
                    loop {
                        let mut state = jobs.lock();
                        while state.0 == 0 {
                            state = changed.wait(state);
                        }
                        if state.1.len() == JOBS {
                            return;
                        }
                        state.1.push(number);
                        drop(state);
                        compute_a_moment();
                    }
                });
            }
            // All wait.
            sleep(Duration::from_millis(2)).unwrap();
            jobs.lock().0 = 1;
            changed.notify_all();
        });
        queue.0.into_inner().1
    });
    let later = later_streaks(&took);
    let most = later.iter().max().copied().unwrap_or(JOBS);
    assert!(most <= 4, "{most} jobs in a row, of {took:?}");
}

/// The same for fibers that complete a short operation after each long computation.
#[test]
fn fibers_that_receive_compute_and_send_take_turns() {
    const FIBERS: usize = 8;
    const JOBS: usize = 120;
    let took = alone(|| {
        let (tx, rx) = channel::unbounded();
        let (done, results) = channel::unbounded();
        for number in 0..FIBERS {
            let (rx, done) = (rx.clone(), done.clone());
            pirn::spawn(move || {
                for () in &rx {
                    compute_a_moment();
                    done.send(number).unwrap();
                }
            });
        }
        drop(done);
        sleep(Duration::from_millis(2)).unwrap();
        (0..JOBS).for_each(|_| tx.send(()).unwrap());
        drop(tx);
        results.iter().collect::<Vec<_>>()
    });
    let later = later_streaks(&took);
    let most = later.iter().max().copied().unwrap_or(JOBS);
    assert!(most <= 4, "{most} jobs in a row, of {took:?}");
}

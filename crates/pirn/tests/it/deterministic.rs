//! Deterministic runtimes: one seed, one trace, and virtual time.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pirn::cancel::{check, deadline, shield, with_deadline};
use pirn::channel::{self, RecvTimeoutError, SendTimeoutError};
use pirn::runtime::{Scheduler, test};
use pirn::time::{now, sleep, sleep_until, timeout};
use pirn::{Interrupt, Runtime, par, sync};

use crate::executor_kind::{alone, runtime};
use crate::util::{LONG, apart, compute_until, scaled};

const SECOND: Duration = Duration::from_secs(1);

fn seeded(seed: u64) -> Runtime {
    let runtime = Runtime::builder().deterministic(seed).build();
    runtime.expect("a runtime starts")
}

/// The fiber, its event, and the time in microseconds.
type Event = (usize, &'static str, u128);

/// The events.
#[derive(Clone)]
struct Trace {
    start: Instant,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Trace {
    fn new() -> Trace {
        Trace {
            start: now(),
            events: Arc::default(),
        }
    }

    fn note(&self, fiber: usize, event: &'static str) {
        let at = (now() - self.start).as_micros();
        self.events.lock().unwrap().push((fiber, event, at));
    }

    fn take(self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock().unwrap())
    }
}

/// A program with a few operations of every kind, and its trace.
fn program(runtime: &Runtime) -> Vec<Event> {
    runtime.run(|| {
        let trace = Trace::new();
        let (tx, rx) = channel::bounded(2);
        let mutex = Arc::new(sync::Mutex::new(0));
        let fibers: Vec<_> = (0..12)
            .map(|i| {
                let (trace, tx, rx) = (trace.clone(), tx.clone(), rx.clone());
                let mutex = Arc::clone(&mutex);
                pirn::spawn(move || {
                    trace.note(i, "starts");
                    for round in 0..6 {
                        match (i + round) % 5 {
                            0 => tx.send(i).unwrap(),
                            1 => drop(rx.recv_timeout(Duration::from_millis(7))),
                            2 => sleep(Duration::from_micros(100 * i as u64)).unwrap(),
                            3 => pirn::yield_now(),
                            _ => {
                                let mut held = mutex.lock();
                                *held += 1;
                                pirn::yield_now();
                                drop(held);
                            }
                        }
                        trace.note(i, "went on");
                        if round == 3 {
                            let trace = trace.clone();
                            drop(pirn::spawn(move || trace.note(100 + i, "was spawned")));
                        }
                        // Keeps the channel from filling up.
                        while rx.try_recv().is_ok() {}
                    }
                    trace.note(i, "ends");
                })
            })
            .collect();
        for fiber in fibers {
            fiber.join().unwrap();
        }
        trace.take()
    })
}

/// The same seed gives the same trace, on either scheduler, also in a runtime that has run
/// another program before; other seeds give others.
// Proves: P13.
#[test]
fn one_seed_one_trace() {
    let of = |seed| program(&seeded(seed));
    let mut traces = BTreeSet::new();
    for seed in 0..10 {
        let trace = of(seed);
        assert!(trace.len() > 12 * 8);
        // Also while other threads occupy the machine.
        let stop = AtomicBool::new(false);
        std::thread::scope(|threads| {
            for _ in 0..3 {
                threads
                    .spawn(|| compute_until("told to", || stop.load(Ordering::Relaxed)));
            }
            assert_eq!(of(seed), trace, "with the seed {seed}");
            stop.store(true, Ordering::Relaxed);
        });
        traces.insert(trace);
    }
    assert!(traces.len() >= 9, "{} traces of 10 seeds", traces.len());
    let both = [(); 2].map(|()| {
        let runtime = seeded(3);
        (program(&runtime), program(&runtime))
    });
    assert_eq!(both[0], both[1]);
    let queued = [(); 2].map(|()| {
        let builder = Runtime::builder().scheduler(Scheduler::SingleQueue);
        program(&builder.deterministic(3).build().unwrap())
    });
    assert_eq!(queued[0], queued[1]);
}

/// Every order of three fibers that are ready at once occurs.
#[test]
fn every_order_comes_up() {
    let orders = (0..100).map(|seed| {
        seeded(seed).run(|| {
            let order = Arc::new(Mutex::new(Vec::new()));
            let fibers = [0, 1, 2].map(|i| {
                let order = Arc::clone(&order);
                pirn::spawn(move || order.lock().unwrap().push(i))
            });
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
            std::mem::take(&mut *order.lock().unwrap())
        })
    });
    assert_eq!(orders.collect::<BTreeSet<_>>().len(), 6);
}

/// A hundred thousand sleeps of up to 10,000 seconds: none early, none late, in almost no real
/// time.
/// Locks that are free do not wait; the seed chooses before them all the same.
// Proves: U7.
#[test]
fn free_locks_are_choices() {
    let is_blocked = |seed| {
        seeded(seed).run(|| {
            let locks = Arc::new((sync::Mutex::new(()), sync::Mutex::new(())));
            let other = Arc::clone(&locks);
            let fiber = pirn::spawn(move || {
                let _first = other.1.lock();
                other.0.lock_timeout(SECOND).is_none()
            });
            let first = locks.0.lock();
            let one = locks.1.lock_timeout(SECOND).is_none();
            drop(first);
            fiber.join().unwrap() || one
        })
    };
    let blocked = (0..100).filter(|seed| is_blocked(*seed)).count();
    assert!((10..90).contains(&blocked), "{blocked} of 100 seeds");
}

/// Time passes although a fiber can always run.
// Proves: P13.
#[test]
fn a_loop_that_yields_until_a_moment_ends() {
    seeded(1).run(|| {
        let start = now();
        let sleeper = pirn::spawn(move || {
            sleep(3 * SECOND / 1_000).unwrap();
            now() - start
        });
        while now() - start < SECOND / 100 {
            pirn::yield_now();
        }
        let slept = sleeper.join().unwrap();
        assert!(
            (3 * SECOND / 1_000..SECOND / 100).contains(&slept),
            "{slept:?}"
        );
    });
}

// Proves: N1.
#[test]
fn long_sleeps_take_no_time() {
    let n = scaled(100_000);
    let began = Instant::now();
    seeded(1).run(|| {
        let start = now();
        let woken = Arc::new(AtomicUsize::new(0));
        let last = Arc::new(Mutex::new(start));
        for i in 0..n {
            let (woken, last) = (Arc::clone(&woken), Arc::clone(&last));
            drop(pirn::spawn(move || {
                let at = now() + Duration::from_micros(i as u64 * 7_919 % 10_000_000_000);
                sleep_until(at).unwrap();
                assert_eq!(now(), at);
                let mut last = last.lock().unwrap();
                assert!(*last <= at, "time goes back");
                *last = at;
                woken.fetch_add(1, Ordering::Relaxed);
            }));
        }
        sleep(Duration::from_secs(10_001)).unwrap();
        assert_eq!(woken.load(Ordering::Relaxed), n);
        assert_eq!(now() - start, Duration::from_secs(10_001));
    });
    assert!(began.elapsed() < LONG);
}

/// Time stands still while any fiber runs, and every kind of limit uses it.
// Proves: P13.
#[test]
fn every_limit_goes_by_virtual_time() {
    test(|_| {
        let start = now();
        (0..1_000).for_each(|_| pirn::yield_now());
        assert_eq!(now(), start);
        let (_tx, rx) = channel::bounded::<()>(1);
        assert_eq!(rx.recv_timeout(SECOND), Err(RecvTimeoutError::Timeout));
        assert_eq!(now() - start, SECOND);
        let mutex = Arc::new(sync::Mutex::new(()));
        let held = mutex.lock();
        let other = Arc::clone(&mutex);
        let locker = pirn::spawn(move || other.lock_timeout(SECOND).is_none());
        assert!(locker.join().unwrap());
        let changed = sync::Condvar::new();
        let (held, ended) = changed.wait_timeout(held, SECOND);
        assert!(ended.timed_out());
        drop(held);
        pirn::spawn::park_timeout(SECOND);
        assert!(timeout(SECOND, || rx.recv()).is_err());
        let sleeper = pirn::spawn(|| sleep(10 * SECOND));
        let Err(sleeper) = sleeper.join_timeout(SECOND) else {
            panic!("it sleeps on");
        };
        assert_eq!(now() - start, 6 * SECOND);
        assert_eq!(with_deadline(start, check), Err(Interrupt::TimedOut));
        sleeper.join().unwrap().unwrap();
        assert_eq!(now() - start, 15 * SECOND);
        // An expired limit ends its wait though other fibers never stop running.
        let stop = Arc::new(AtomicBool::new(false));
        let stops = Arc::clone(&stop);
        drop(pirn::spawn(move || {
            while !stops.load(Ordering::Relaxed) {
                pirn::yield_now();
            }
        }));
        let passed = rx.recv_timeout(Duration::ZERO);
        assert_eq!(passed, Err(RecvTimeoutError::Timeout));
        stop.store(true, Ordering::Relaxed);
    });
}

/// Of two deadlines at the same moment the outer one counts, for `timeout` and for a call's own
/// limit.
// Proves: N10.
#[test]
fn the_outer_of_two_equal_deadlines_counts() {
    test(|_| {
        let mut inner = None;
        let outer = timeout(SECOND, || {
            inner = Some(timeout(SECOND, || sleep(2 * SECOND)));
        });
        assert!(outer.is_err());
        assert_eq!(inner, Some(Ok(Err(Interrupt::TimedOut))));
        let (_tx, rx) = channel::bounded::<()>(1);
        let mut inner = None;
        let outer = timeout(SECOND, || inner = Some(rx.recv_timeout(SECOND)));
        assert!(outer.is_err());
        let interrupted = RecvTimeoutError::Interrupted(Interrupt::TimedOut);
        assert_eq!(inner, Some(Err(interrupted)));
    });
}

/// A deadline expires at its exact moment, though no wait has reported it.
#[test]
fn a_deadline_has_passed_at_its_moment() {
    test(|_| {
        with_deadline(now() + SECOND, || {
            assert_eq!(check(), Ok(()));
            shield(|| sleep(SECOND)).unwrap();
            assert_eq!(check(), Err(Interrupt::TimedOut));
        });
    });
}

/// A value that arrives a moment before the limit is delivered; one that arrives later stays with
/// its sender. With any seed.
#[test]
fn data_and_limits_meet() {
    let moment = Duration::from_micros(1);
    for seed in 0..20 {
        for (delay, comes) in [(SECOND - moment, true), (SECOND + moment, false)] {
            seeded(seed).run(|| {
                let (tx, rx) = channel::bounded(0);
                let sender = pirn::spawn(move || {
                    sleep(delay).unwrap();
                    tx.send_timeout(7, SECOND)
                });
                let received = rx.recv_timeout(SECOND);
                let sent = || sender.join().unwrap();
                if comes {
                    assert_eq!((received, sent()), (Ok(7), Ok(())));
                } else {
                    assert_eq!(received, Err(RecvTimeoutError::Timeout));
                    assert_eq!(sent(), Err(SendTimeoutError::Timeout(7)));
                }
            });
        }
    }
}

/// Time stands still while a fiber runs on a thread that may block, or waits for another runtime.
#[test]
fn time_waits_for_what_is_outside() {
    let other = runtime(1);
    test(|_| {
        let start = now();
        let sleeper = pirn::spawn(|| sleep(SECOND));
        pirn::yield_now();
        let real = Instant::now();
        let nap = || std::thread::sleep(Duration::from_millis(20));
        pirn::blocking(nap);
        assert!(real.elapsed() >= Duration::from_millis(20));
        assert_eq!((now(), sleeper.is_finished()), (start, false));
        other.run(|| sleep(Duration::from_millis(20)).unwrap());
        assert_eq!((now(), sleeper.is_finished()), (start, false));
        sleeper.join().unwrap().unwrap();
        assert_eq!(now() - start, SECOND);
    });
}

/// Other threads may send to the runtime, and have the real clock.
#[test]
fn threads_join_in() {
    let runtime = seeded(5);
    let (tx, rx) = channel::bounded(1);
    let sum = runtime.spawn(move || rx.iter().sum::<u64>());
    for i in 0..1_000 {
        tx.send(i).unwrap();
    }
    drop(tx);
    assert_eq!(sum.join().unwrap(), 999 * 500);
    let real = Instant::now();
    assert!(now() >= real, "a thread's clock is the real one");
    runtime.run(|| sleep(1_000 * SECOND).unwrap());
    assert!(now() - real < LONG);
    let (ahead, threads) = (runtime.run(now), now());
    assert!(ahead - threads > 900 * SECOND);
}

/// A deadline applies to a scope's children only on the same clock.
#[test]
fn deadlines_stay_on_their_clock() {
    let real = runtime(1);
    let at = now() + LONG;
    let seen = with_deadline(at, || seeded(1).scope(|s| s.spawn(deadline).join()));
    assert_eq!(seen.unwrap(), None);
    assert_eq!(with_deadline(at, || seeded(1).run(deadline)), None);
    assert_eq!(with_deadline(at, || real.run(deadline)), Some(at));
    test(|own| {
        let at = now() + SECOND;
        with_deadline(at, || {
            let inside = own.scope(|s| s.spawn(deadline).join());
            assert_eq!(inside.unwrap(), Some(at));
            // Not joined: the deadline would not wait for another runtime's fiber.
            let mut elsewhere = Some(at);
            real.scope(|s| drop(s.spawn(|| elsewhere = deadline())));
            assert_eq!(elsewhere, None);
        });
    });
}

/// The body of a scope, also of a runtime with another clock, runs under the deadline of its caller.
// Proves: K9.
#[test]
fn a_deadline_holds_in_the_body_of_any_scope() {
    let (real, virtual_time) = (runtime(1), seeded(1));
    let at = now() + LONG;
    assert_eq!(
        with_deadline(at, || virtual_time.scope(|_| deadline())),
        Some(at)
    );
    let limit = Duration::from_millis(20);
    let ended = timeout(limit, || virtual_time.scope(|_| sleep(LONG)));
    assert!(ended.is_err(), "{ended:?}");
    test(move |_| {
        let at = now() + SECOND;
        assert_eq!(with_deadline(at, || real.scope(|_| deadline())), Some(at));
        let ended = timeout(SECOND, || real.scope(|_| sleep(LONG)));
        assert!(ended.is_err(), "{ended:?}");
    });
}

/// A deadline of a plain thread says nothing to work that a runtime with virtual time does for it.
// Proves: P13-X-outside.
#[test]
fn a_loop_for_a_plain_thread_ignores_its_deadline() {
    let runtime = seeded(1);
    runtime.run(|| sleep(60 * LONG)).unwrap();
    let done = timeout(LONG, || {
        runtime.enter(|| par::try_for_each(0..10, |_| Ok::<_, Interrupt>(())))
    });
    assert_eq!(done, Ok(Ok(())));
}

/// A destructor may sleep while its fiber unwinds.
#[test]
fn unwinding_takes_its_virtual_time() {
    struct Naps;
    impl Drop for Naps {
        fn drop(&mut self) {
            let start = now();
            pirn::yield_now();
            sleep(SECOND).unwrap();
            assert_eq!(now() - start, SECOND);
        }
    }
    test(|_| {
        let start = now();
        let fibers = [0, 1].map(|_| {
            pirn::spawn(|| {
                let _naps = Naps;
                std::panic::resume_unwind(Box::new("on purpose"));
            })
        });
        for fiber in fibers {
            assert!(fiber.join().unwrap_err().is_panic());
        }
        assert!(now() - start >= SECOND);
        assert!(!std::thread::panicking());
    });
}

/// Remaining fibers end with the runtime, in virtual time; a fiber that never ends is reported at a
/// shutdown.
#[test]
fn runtimes_end_in_virtual_time() {
    let slept = Arc::new(AtomicBool::new(false));
    let sets = Arc::clone(&slept);
    let runtime = seeded(1);
    drop(runtime.spawn(move || {
        sleep(5_000 * SECOND).unwrap();
        sets.store(true, Ordering::Relaxed);
    }));
    runtime.wait_idle().unwrap();
    assert!(slept.load(Ordering::Relaxed));
    drop(runtime);
    let runtime = seeded(1);
    let sleeper = runtime.spawn(|| sleep(Duration::MAX));
    let (tx, rx) = channel::bounded(0);
    let stuck = runtime.spawn(move || {
        tx.send(()).unwrap();
        pirn::park();
    });
    rx.recv().unwrap();
    let unpark = stuck.fiber().clone();
    let left = runtime.shutdown(Duration::from_millis(200)).unwrap_err();
    // None is reported if the worker gets no processor in time.
    assert!(left.fibers().len() <= 1, "{left}");
    unpark.unpark();
    assert_eq!(sleeper.join().unwrap(), Err(Interrupt::Cancelled));
    stuck.join().unwrap();
    test(|handle| {
        drop(pirn::spawn(|| sleep(SECOND)));
        let start = now();
        handle.wait_idle().unwrap();
        assert_eq!(now() - start, SECOND);
    });
}

/// There is only one worker.
#[test]
fn a_deterministic_runtime_has_one_worker() {
    let error = Runtime::builder().workers(2).deterministic(1).build();
    let error = error.expect_err("refused").to_string();
    assert_eq!(error, "workers is 2; a deterministic runtime has 1");
    let one = Runtime::builder().workers(1).deterministic(1).build();
    assert_eq!(one.unwrap().metrics().workers.len(), 1);
}

/// Returns which of two fibers runs first in a `test`, for several calls.
fn choices() -> Vec<bool> {
    test(|_| {
        let choice = |_| {
            let first = Arc::new(AtomicUsize::new(0));
            let fibers = [1, 2].map(|i| {
                let first = Arc::clone(&first);
                pirn::spawn(move || {
                    let _ = first.compare_exchange(
                        0,
                        i,
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    );
                })
            });
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
            first.load(Ordering::Relaxed) == 1
        };
        (0..32).map(choice).collect()
    })
}

/// `PIRN_SEED` is the seed of `test`; without it each call has another one.
#[test]
fn the_environment_gives_the_seed() {
    let name = "deterministic::the_environment_gives_the_seed";
    let ended = apart(name, &[("PIRN_SEED", "12345")], || {
        let expected = choices();
        assert_eq!(choices(), expected);
        assert_eq!(choices(), expected);
    });
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
        let several: BTreeSet<_> = (0..4).map(|_| choices()).collect();
        assert!(several.len() > 1);
    }
}

/// A `test` that panics prints its seed and its name, and that seed repeats it. The builder's seed
/// takes precedence over that of the environment.
// Proves: P10, P13.
#[test]
fn a_failure_names_its_seed() {
    let name = "deterministic::a_failure_names_its_seed";
    let fails = || {
        let fails = || match std::env::var("PIRN_SEED").as_deref() {
            Ok("78") => Runtime::builder()
                .deterministic(5)
                .test(|_| panic!("on purpose")),
            _ => test(|_| panic!("on purpose")),
        };
        let raised = catch_unwind(AssertUnwindSafe(fails));
        let panic = raised.expect_err("raised again");
        assert_eq!(*panic.downcast::<&str>().unwrap(), "on purpose");
    };
    let seeds = [
        (&[][..], None),
        (&[("PIRN_SEED", "77")], Some(77)),
        (&[("PIRN_SEED", "78")], Some(5)),
    ];
    for (environment, expected) in seeds {
        let Some(ended) = apart(name, environment, fails) else {
            return;
        };
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
        let seed = ended.stderr.split("pirn: PIRN_SEED=").nth(1);
        let seed = seed.and_then(|rest| rest.split_once(" reproduces this"));
        let (seed, rest) = seed.unwrap_or_else(|| panic!("no seed in {}", ended.stderr));
        let line = rest.lines().next().unwrap_or_default();
        let named = format!(" failure of the test '{name}' (");
        assert!(line.starts_with(&named), "{}", ended.stderr);
        assert!(line.contains("deterministic.rs:"), "{}", ended.stderr);
        let seed: u64 = seed.parse().unwrap();
        assert_eq!(seed, expected.unwrap_or(seed), "{environment:?}");
    }
}

/// Sleepers and limits of an ordinary runtime keep the real clock beside all this.
#[test]
fn ordinary_runtimes_keep_the_real_clock() {
    alone(|| {
        let real = Instant::now();
        sleep(Duration::from_millis(5)).unwrap();
        assert!(real.elapsed() >= Duration::from_millis(5));
        assert!(Instant::now() - now() < LONG && now() - real < LONG);
    });
}

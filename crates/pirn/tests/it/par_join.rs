//! `par::join`: two halves, which run in parallel if a worker is idle.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pirn::channel;
use pirn::par::{self, Scope, join};
#[cfg(not(pirn_free))]
use pirn::spawn::Builder;
use pirn::sync::Mutex;
use pirn::{Interrupt, Runtime, timeout};

use crate::util::{Drops, apart, compute_until, eventually, on_every_shape, scaled};

fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn fib_in(s: &mut Scope<'_>, n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = s.join(|s| fib_in(s, n - 1), |s| fib_in(s, n - 2));
    a + b
}

/// A single-worker runtime, on which only a wait lets the other half run.
fn lone() -> Runtime {
    Runtime::builder().workers(1).build().unwrap()
}

// Proves: O9-join.
#[test]
fn results_are_those_of_calls() {
    on_every_shape(|runtime| {
        assert_eq!(runtime.run(|| fib(18)), 2_584);
        assert_eq!(runtime.run(|| par::scope(|s| fib_in(s, 18))), 2_584);
        assert_eq!(runtime.enter(|| fib(12)), 144, "from a plain thread");
        assert_eq!(runtime.enter(|| par::scope(|s| fib_in(s, 12))), 144);
    });
    // On the default runtime.
    assert_eq!(fib(10), 55);
    assert_eq!(par::scope(|s| fib_in(s, 10)), 55);
}

/// Halves borrow, and return their results.
// Proves: O9-join.
#[test]
fn halves_borrow() {
    fn double(numbers: &mut [u32]) -> usize {
        match numbers {
            [] => 0,
            [one] => {
                *one *= 2;
                1
            }
            many => {
                let (left, right) = many.split_at_mut(many.len() / 2);
                let (a, b) = join(|| double(left), || double(right));
                a + b
            }
        }
    }
    on_every_shape(|runtime| {
        let mut numbers: Vec<u32> = (0..1_000).collect();
        assert_eq!(runtime.run(|| double(&mut numbers)), 1_000);
        assert!(
            numbers
                .iter()
                .enumerate()
                .all(|(i, n)| *n as usize == 2 * i)
        );
    });
}

/// A first half that waits lets the second one run, on any number of workers; and vice versa if the
/// second one runs first.
// Proves: O9-join.
#[test]
fn halves_talk() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            let (tx, rx) = channel::bounded::<u32>(0);
            let (got, sent) = join(|| rx.recv(), || tx.send(7));
            assert_eq!((got, sent), (Ok(7), Ok(())));
            let (sent, got) = join(|| tx.send(8), || rx.recv());
            assert_eq!((got, sent), (Ok(8), Ok(())));
        });
    });
}

/// Nested, and the innermost waits for the outermost.
// Proves: O9-join.
#[test]
fn all_that_is_noted_goes_on_when_one_waits() {
    fn nest(depth: usize, work: &(impl Fn(usize) + Sync)) {
        if depth == 0 {
            return work(0);
        }
        join(|| nest(depth - 1, work), || work(depth));
    }
    on_every_shape(|runtime| {
        runtime.run(|| {
            let (tx, rx) = channel::bounded::<usize>(0);
            let sum = AtomicUsize::new(0);
            nest(50, &|depth| match depth {
                0 => {
                    for _ in 0..50 {
                        sum.fetch_add(rx.recv().unwrap(), Ordering::Relaxed);
                    }
                }
                _ => tx.send(depth).unwrap(),
            });
            assert_eq!(sum.into_inner(), 50 * 51 / 2);
        });
    });
}

/// An idle worker requests and is given a half, whatever computes meanwhile.
// Proves: O9-join.
#[test]
fn idle_workers_get_halves() {
    on_every_shape(|runtime| {
        if runtime.workers() == 1 {
            return;
        }
        let taken = AtomicBool::new(false);
        runtime.run(|| {
            join(
                || {
                    while !taken.load(Ordering::Acquire) {
                        join(|| (), || ());
                    }
                },
                || taken.store(true, Ordering::Release),
            )
        });
    });
}

/// Other fibers get the thread of a fiber that joins without end.
// Proves: O9-join.
#[test]
fn others_get_their_turn() {
    on_every_shape(|runtime| {
        let over = AtomicBool::new(false);
        runtime.scope(|s| {
            for _ in 0..2 * runtime.workers() {
                s.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        fib(8);
                    }
                });
            }
            // Created, and woken by the clock and by others, while all of those run.
            s.spawn(|| {
                pirn::sleep(Duration::from_millis(5)).unwrap();
                let (tx, rx) = channel::bounded(1);
                let other = pirn::spawn(move || tx.send(1));
                assert_eq!(rx.recv(), Ok(1));
                other.join().unwrap().unwrap();
                over.store(true, Ordering::Relaxed);
            });
        });
    });
}

/// An idle worker has requested work before the next join begins, also if short ones ran before: a
/// first half without joins of its own does not delay the second one.
// Proves: O9-join.
#[test]
fn halves_without_joins_are_offered() {
    const JOINS: usize = 500;
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let compute = |micros| {
        let begun = Instant::now();
        let length = Duration::from_micros(micros);
        compute_until("time passes", || begun.elapsed() > length);
    };
    let spawned = || runtime.metrics().total.spawned;
    let is_offered = || {
        join(|| compute(1), || compute(1));
        let before = spawned();
        join(|| compute(1_000), || compute(1_000));
        spawned() > before
    };
    // If all requests are late, none is in time. A preempted worker is late as well.
    let offered = runtime.run(|| (0..JOINS).filter(|_| is_offered()).count());
    assert!(offered > JOINS / 2, "{offered} of {JOINS}");
}

// Proves: O9-join.
#[test]
fn panics_are_raised_when_both_have_ended() {
    let message =
        |panic: Box<dyn std::any::Any + Send>| *panic.downcast::<&str>().unwrap();
    on_every_shape(|runtime| {
        for (left, right, raised) in [
            (true, false, "left"),
            (false, true, "right"),
            (true, true, "left"),
        ] {
            for waits in [false, true] {
                let drops = Drops::default();
                let ended = AtomicUsize::new(0);
                let half = |fails: bool, name: &'static str| {
                    let kept = drops.one();
                    if waits {
                        pirn::yield_now();
                    }
                    ended.fetch_add(1, Ordering::SeqCst);
                    if fails {
                        resume_unwind(Box::new(name));
                    }
                    kept
                };
                let panic = runtime.run(|| {
                    catch_unwind(AssertUnwindSafe(|| {
                        join(|| half(left, "left"), || half(right, "right"))
                    }))
                    .map(drop)
                });
                assert_eq!(message(panic.unwrap_err()), raised);
                assert_eq!(ended.load(Ordering::SeqCst), 2);
                assert_eq!(drops.count(), 2);
            }
        }
    });
}

/// Results are stored in place; the second half's pass through a header, with any size.
#[test]
fn large_results_come_back() {
    on_every_shape(|runtime| {
        let (a, b) = runtime.run(|| {
            join(
                || {
                    pirn::yield_now();
                    [1_u64; 110]
                },
                || [2_u64; 120],
            )
        });
        assert_eq!(a.iter().sum::<u64>() + b.iter().sum::<u64>(), 350);
    });
}

/// rayon's deadlock: a lock is held across a join, and acquired by work that the waiting thread
/// would begin on top of it.
// Proves: O9-join.
#[test]
fn a_lock_may_be_held_across_a_join() {
    on_every_shape(|runtime| {
        let lock = Mutex::new(0);
        let step = || {
            let mut held = lock.lock();
            let (a, b) = join(
                || {
                    pirn::yield_now();
                    fib(5)
                },
                || fib(5),
            );
            *held += a + b;
        };
        runtime.scope(|s| {
            for _ in 0..20 {
                s.spawn(step);
            }
            s.spawn(|| join(step, step));
        });
        assert_eq!(*lock.lock(), 22 * 10);
    });
}

/// A lock of `std` that is held across a join blocks the waiter's whole thread, which may be the
/// thread of the holder: no fiber proceeds, and the blocked one is named.
// Settled: a fiber that may migrate may resume elsewhere.
// Proves: O9-join.
#[cfg(not(pirn_free))]
#[test]
fn a_lock_of_std_across_a_join_keeps_its_worker() {
    const NAMED: i32 = 7;
    static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let name = "par_join::a_lock_of_std_across_a_join_keeps_its_worker";
    let set = [("PIRN_WORKERS", "1"), ("PIRN_SLOW_FIBER", "100")];
    let ended = apart(name, &set, || {
        let runtime = Runtime::builder().build().unwrap();
        let holder = runtime.spawn(|| {
            let wants = AtomicBool::new(false);
            let (tx, rx) = channel::bounded::<()>(0);
            let _held = LOCK.lock();
            pirn::scope(|s| {
                let first = || {
                    let wanter = || {
                        wants.store(true, Ordering::SeqCst);
                        drop(LOCK.lock());
                    };
                    Builder::new()
                        .name("wanter")
                        .spawn_scoped(s, wanter)
                        .unwrap();
                    rx.recv()
                };
                let second = || {
                    while !wants.load(Ordering::SeqCst) {
                        pirn::yield_now();
                    }
                    tx.send(())
                };
                let _ = join(first, second);
            });
        });
        // With a lock of ours the fiber would end, and this would wait indefinitely.
        eventually("it is named", || runtime.metrics().slow_fibers == 1);
        assert!(!holder.is_finished());
        std::process::exit(NAMED);
    });
    let Some(ended) = ended else { return };
    assert_eq!(ended.status.code(), Some(NAMED), "{}", ended.stderr);
    let said = &ended.stderr;
    assert!(
        said.contains("'wanter' (spawned at ") && said.contains("has kept worker 0"),
        "{said}"
    );
}

/// A cancellation is reported in both halves, on any worker and with every kind of cancellation.
// Proves: O9-region.
#[test]
fn a_cancellation_reaches_both_halves() {
    on_every_shape(|runtime| {
        let begun = std::sync::Arc::new(AtomicUsize::new(0));
        let count = std::sync::Arc::clone(&begun);
        let fiber = runtime.spawn(move || {
            let (_tx, rx) = channel::bounded::<()>(0);
            let wait = || {
                count.fetch_add(1, Ordering::SeqCst);
                rx.recv().unwrap_err()
            };
            join(|| join(wait, wait), wait)
        });
        eventually("all three wait", || begun.load(Ordering::SeqCst) == 3);
        fiber.cancel();
        let ((a, b), c) = fiber.join().unwrap();
        for end in [a, b, c] {
            assert!(matches!(
                end,
                channel::RecvError::Interrupted(Interrupt::Cancelled)
            ));
        }
    });
}

/// A deadline around the join applies to both halves, one inside the first half to that only.
// Proves: O9-region.
#[test]
fn deadlines_hold_where_they_are_set() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            let (_tx, rx) = channel::bounded::<()>(0);
            let (tx, through) = channel::bounded::<()>(1);
            let (short, long) = join(
                || timeout(Duration::from_millis(1), || rx.recv()),
                || through.recv_timeout(Duration::from_millis(200)),
            );
            assert!(short.is_err());
            assert_eq!(long, Err(channel::RecvTimeoutError::Timeout));
            tx.send(()).unwrap();
            let both = timeout(Duration::from_millis(1), || {
                join(|| rx.recv(), || rx.recv())
            });
            assert!(both.is_err());
            // It was reported, and no state of it is left.
            assert_eq!(through.recv(), Ok(()));
        });
    });
}

// Proves: O9-region.
#[test]
fn fiber_locals_are_inherited() {
    pirn::fiber_local! {
        static NAME: Cell<u32> = Cell::new(0), inherit;
    }
    on_every_shape(|runtime| {
        runtime.run(|| {
            NAME.with(|name| name.set(7));
            let (a, b) = join(
                || {
                    pirn::yield_now();
                    NAME.with(Cell::get)
                },
                || NAME.with(Cell::get),
            );
            assert_eq!((a, b), (7, 7));
        });
    });
}

/// Inside a poll no wait is allowed: one half runs after the other, and neither becomes a fiber.
// Proves: O9-join.
#[test]
fn in_a_poll_halves_run_in_turn() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            let turns = std::sync::Mutex::new(Vec::new());
            let turn = |half: u32| turns.lock().unwrap().push(half);
            let before = runtime.metrics().total.spawned;
            let sum = pirn::future::block_on(async {
                join(|| turn(1), || turn(2));
                fib(10)
            });
            assert_eq!(runtime.metrics().total.spawned, before);
            assert_eq!((sum, turns.into_inner().unwrap()), (55, vec![1, 2]));
        });
        runtime.run(|| {
            let (tx, rx) = channel::bounded::<u64>(1);
            let (a, b) = join(
                || {
                    let sum = pirn::future::block_on(async { fib(10) });
                    tx.send(sum).unwrap();
                    sum
                },
                || rx.recv().unwrap(),
            );
            assert_eq!((a, b), (55, 55));
        });
    });
}

/// Ten million joins leave nothing behind.
// Proves: O9-cost.
#[test]
fn joins_leave_nothing_behind() {
    let part = || {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let many = scaled(if cfg!(debug_assertions) {
            300_000
        } else {
            10_000_000
        });
        runtime.run(|| {
            for n in 0..many {
                let (a, b) = join(|| n, || n + 1);
                assert_eq!(a + 1, b);
            }
        });
        let before = crate::util::resident();
        runtime.run(|| {
            for _ in 0..many / 1_000 {
                fib(10);
                join(pirn::yield_now, || ());
            }
        });
        let grown = crate::util::resident().saturating_sub(before);
        assert!(grown < 8 << 20, "{grown} bytes more");
    };
    if let Some(ended) = apart("par_join::joins_leave_nothing_behind", &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// On one worker, without any request, no half becomes a fiber.
// Proves: O9-cost.
#[test]
fn no_worker_is_made_without_work() {
    let runtime = lone();
    runtime.run(|| ());
    let before = runtime.metrics().total.spawned;
    assert_eq!(runtime.run(|| fib(15)), 610);
    assert_eq!(runtime.metrics().total.spawned - before, 1, "that of `run`");
}

/// Where a seed decides, it decides this too, and always the same.
// Proves: O9-join.
#[test]
fn a_seed_decides() {
    let spawned = |seed| {
        let runtime = Runtime::builder().deterministic(seed).build().unwrap();
        assert_eq!(runtime.run(|| fib(10)), 55);
        runtime.metrics().total.spawned
    };
    let all: Vec<u64> = (0..5).map(spawned).collect();
    assert_eq!(all, (0..5).map(spawned).collect::<Vec<_>>());
    assert!(all.iter().all(|spawned| *spawned > 10), "{all:?}");
}

/// There too a fiber that does nothing but join lets others have their turn.
// Proves: O9-join.
#[test]
fn a_seed_lets_others_have_their_turn() {
    for seed in 0..20 {
        let runtime = Runtime::builder().deterministic(seed).build().unwrap();
        let over = AtomicBool::new(false);
        runtime.scope(|s| {
            s.spawn(|| {
                compute_until("others have their turn", || {
                    fib(5);
                    over.load(Ordering::Relaxed)
                });
            });
            s.spawn(|| over.store(true, Ordering::Relaxed));
        });
    }
}

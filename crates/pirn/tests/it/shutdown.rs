//! Shutdown: in time, with every fiber ended that can be, and the rest named.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::cancel::shield;
use pirn::channel::RecvError;
use pirn::io::copy_bidirectional;
use pirn::net::UnixStream;
use pirn::process::Command;
use pirn::scope::all;
use pirn::spawn::{Builder, JoinError, park_interruptible};
use pirn::time::now;
use pirn::{Interrupt, JoinHandle, Runtime, channel};

use crate::executor_kind::runtime;
use crate::util::{Drops, LONG, SCHEDULERS, compute_until, eventually, scaled, shaped};

/// A9. Ten thousand parked and ten thousand queued fibers: shutdown returns in time, no queued one
/// runs, and each capture is dropped exactly once.
// Proves: E14, F20.
#[test]
fn parked_and_queued_fibers_end() {
    let n = scaled(10_000);
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 4] {
            let drops = Drops::default();
            // The gates below hold every thread that there is.
            let builder = Runtime::builder().workers(workers).max_threads(workers);
            let runtime = builder.scheduler(scheduler).build().unwrap();
            let parked: Vec<JoinHandle<Interrupt>> = (0..n)
                .map(|i| {
                    let capture = drops.one();
                    runtime.spawn(move || {
                        let _capture = capture;
                        let end = match i % 3 {
                            0 => park_interruptible(),
                            1 => pirn::sleep(LONG),
                            _ => pirn::spawn(|| pirn::sleep(LONG).is_err()).wait(),
                        };
                        // The child may be cancelled, and end, before its parent is.
                        end.err().unwrap_or(Interrupt::Cancelled)
                    })
                })
                .collect();
            let all_parked = n + n / 3;
            eventually("all are parked", || {
                runtime.metrics().total.fiber_parks as usize >= all_parked
            });
            // The workers are kept busy until the shutdown, while the rest is queued.
            let held = Arc::new(AtomicUsize::new(0));
            for _ in 0..workers {
                let held = Arc::clone(&held);
                runtime.spawn(move || {
                    held.fetch_add(1, Ordering::SeqCst);
                    let is_cancelled = || pirn::cancel::reason().is_some();
                    compute_until("the shutdown cancels it", is_cancelled);
                });
            }
            eventually("all workers are held", || {
                held.load(Ordering::SeqCst) == workers
            });
            let ran = Arc::new(AtomicUsize::new(0));
            let queued: Vec<_> = (0..n)
                .map(|_| {
                    let (capture, ran) = (drops.one(), Arc::clone(&ran));
                    runtime.spawn(move || {
                        ran.fetch_add(1, Ordering::SeqCst);
                        drop(capture);
                    })
                })
                .collect();
            let start = now();
            runtime.shutdown(LONG).expect("all of them can end");
            assert!(now() - start < LONG / 2);
            assert_eq!(drops.count(), 2 * n, "each capture once");
            for fiber in parked {
                assert!(matches!(fiber.join(), Ok(Interrupt::Cancelled)));
            }
            for fiber in queued {
                assert!(matches!(fiber.join(), Err(JoinError::NotRun)));
            }
            assert_eq!(ran.load(Ordering::SeqCst), 0, "queued ones have run");
        }
    }
}

/// A fiber that does not end in time is reported, by name if its worker can; the others end,
/// and it keeps running.
// Proves: F20.
#[test]
fn what_does_not_end_is_reported_by_name() {
    let runtime = runtime(2);
    let (tx, rx) = channel::bounded::<()>(0);
    let stubborn = runtime.enter(|| {
        Builder::new().name("stubborn").spawn(move || {
            pirn::park();
            drop(rx);
            17
        })
    });
    let stubborn = stubborn.unwrap();
    let willing = runtime.spawn(park_interruptible);
    eventually("both wait", || runtime.metrics().total.fiber_parks == 2);
    let error = runtime.shutdown(Duration::from_secs(1)).unwrap_err();
    assert_eq!(error.fibers().len(), 1, "{error}");
    assert_eq!(error.fibers()[0].name.as_deref(), Some("stubborn"));
    assert_eq!(error.fibers()[0].spawned_at.file(), file!());
    assert!(
        error.to_string().contains("'stubborn'") && error.to_string().contains(file!())
    );
    assert_eq!(willing.join().unwrap(), Err(Interrupt::Cancelled));
    assert!(
        tx.try_send(()).is_err(),
        "it is alive and holds the other end"
    );
    stubborn.fiber().unpark();
    assert_eq!(stubborn.join().unwrap(), 17, "wakes still reach it");
}

/// F20. A fiber in a system call, or computing, is reported with its spawn line, and shutdown does
/// not wait for it.
#[test]
fn a_raw_sleeper_is_reported() {
    let runtime = runtime(1);
    let gate = Arc::new(AtomicBool::new(false));
    let started = Arc::new(AtomicBool::new(false));
    let (open, begun) = (Arc::clone(&gate), Arc::clone(&started));
    let line = line!() + 1;
    let sleeper = runtime.spawn(move || {
        begun.store(true, Ordering::SeqCst);
        while !open.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        pirn::sleep(LONG)
    });
    eventually("it sleeps", || started.load(Ordering::SeqCst));
    let start = now();
    let error = runtime.shutdown(Duration::from_millis(20)).unwrap_err();
    assert!(now() - start < LONG / 2);
    assert_eq!(error.fibers().len(), 1, "{error}");
    let at = error.fibers()[0].spawned_at;
    assert_eq!((at.file(), at.line()), (file!(), line));
    gate.store(true, Ordering::SeqCst);
    // It returns from its system call into an ended runtime, and gets the error.
    assert_eq!(sleeper.join().unwrap(), Err(Interrupt::Cancelled));
}

/// Shutdown from one of the runtime's own fibers returns at once; the runtime ends by itself.
#[test]
fn shutdown_from_inside_returns_at_once() {
    for scheduler in SCHEDULERS {
        let runtime = shaped(2, scheduler);
        let handle = runtime.handle();
        let drops = Drops::default();
        let parked: Vec<_> = (0..100)
            .map(|_| {
                let capture = drops.one();
                runtime.spawn(move || {
                    let _capture = capture;
                    park_interruptible()
                })
            })
            .collect();
        let inside = handle.spawn(move || {
            let error = runtime.shutdown(LONG).unwrap_err();
            error.fibers().len()
        });
        assert_eq!(inside.join().unwrap(), 0);
        for fiber in parked {
            let ended = fiber.join();
            assert!(matches!(
                ended,
                Ok(Err(Interrupt::Cancelled)) | Err(JoinError::NotRun)
            ));
        }
        assert_eq!(drops.count(), 100);
        eventually("its workers end", || {
            std::thread::available_parallelism().is_ok()
                && handle.spawn(|| ()).is_finished()
        });
    }
}

/// A runtime that is dropped while a panic unwinds cancels its waiting fibers: the panic
/// propagates, instead of a wait for fibers that may never end.
// Proves: O13.
#[test]
fn a_panic_does_not_wait_for_servers() {
    for workers in [1, 2] {
        let (tx, rx) = channel::bounded::<()>(1);
        let servers = Arc::new(AtomicUsize::new(0));
        let ended = Arc::clone(&servers);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let runtime = runtime(workers);
            let waiting: Vec<_> = (0..8)
                .map(|_| {
                    let (rx, ended) = (rx.clone(), Arc::clone(&ended));
                    runtime.spawn(move || {
                        let cancelled = RecvError::Interrupted(Interrupt::Cancelled);
                        assert_eq!(rx.recv(), Err(cancelled));
                        ended.fetch_add(1, Ordering::SeqCst);
                    })
                })
                .collect();
            eventually("all wait", || {
                runtime.metrics().total.fiber_parks >= waiting.len() as u64
            });
            panic!("as an assertion does");
        }));
        let payload = caught.unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&"as an assertion does"));
        assert_eq!(servers.load(Ordering::SeqCst), 8);
        drop(tx);
    }
}

/// A runtime that is created while a panic unwinds, for cleanup, does its work.
// Proves: O13.
#[test]
fn a_destructor_may_use_a_runtime() {
    struct CleansUp<'a>(&'a Arc<AtomicUsize>);
    impl Drop for CleansUp<'_> {
        fn drop(&mut self) {
            let runtime = runtime(2);
            for _ in 0..8 {
                let cleaned = Arc::clone(self.0);
                runtime.spawn(move || {
                    if pirn::sleep(Duration::from_millis(1)).is_ok() {
                        cleaned.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        }
    }
    let cleaned = Arc::new(AtomicUsize::new(0));
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _cleans_up = CleansUp(&cleaned);
        panic!("on the way");
    }));
    assert!(caught.is_err());
    assert_eq!(cleaned.load(Ordering::SeqCst), 8);
}

/// A shutdown without fibers returns at once; so does one of a runtime that never ran.
#[test]
fn an_idle_runtime_shuts_down_at_once() {
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 8] {
            let start = now();
            shaped(workers, scheduler).shutdown(LONG).unwrap();
            let used = shaped(workers, scheduler);
            let all: Vec<_> = (0..100).map(|_| used.spawn(pirn::yield_now)).collect();
            all.into_iter().for_each(|fiber| fiber.join().unwrap());
            used.shutdown(LONG).unwrap();
            assert!(now() - start < LONG / 2);
        }
    }
}

/// Spawns of a cancelled fiber are rejected, and dropped once.
// Proves: A9.
#[test]
fn spawns_during_shutdown_are_refused() {
    let drops = Drops::default();
    let runtime = runtime(2);
    let waiting = {
        let drops = drops.clone();
        runtime.spawn(move || {
            assert_eq!(park_interruptible(), Err(Interrupt::Cancelled));
            let capture = drops.one();
            let refused = pirn::spawn(move || drop(capture));
            let capture = drops.one();
            let scoped = pirn::scope(|s| s.spawn(move || drop(capture)).join().is_err());
            (matches!(refused.join(), Err(JoinError::NotRun)), scoped)
        })
    };
    eventually("it waits", || runtime.metrics().total.fiber_parks == 1);
    runtime.shutdown(LONG).unwrap();
    assert_eq!(waiting.join().unwrap(), (true, true));
    assert_eq!(drops.count(), 2);
}

/// Cleanup in a shield during a shutdown: a call that needs a second fiber fails, since none is
/// started. It does not wait for the work of that fiber, and no result is missing without an error.
// Proves: A9.
#[test]
fn calls_that_need_a_second_fiber_fail_during_shutdown() {
    let runtime = runtime(2);
    let waiting = runtime.spawn(|| {
        assert_eq!(park_interruptible(), Err(Interrupt::Cancelled));
        shield(|| {
            // More than a pipe holds, to the one that the second fiber would read.
            let mut shell = Command::new("sh");
            let flood = "head -c 300000 /dev/zero >&2";
            let output = shell.args(["-c", flood]).output();
            // Neither peer is closed, so neither direction ends.
            let (a, b) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
            (&a.0).write_all(b"there").unwrap();
            (&b.0).write_all(b"back").unwrap();
            let copied = copy_bidirectional(&a.1, &b.1);
            let jobs = (0..3).map(|i| move || Ok::<_, Interrupt>(i));
            let [output, copied] = [output.err(), copied.err()].map(|error| {
                let error = error.expect("no second fiber");
                Interrupt::of(&error)
            });
            (output, copied, all(jobs))
        })
    });
    eventually("it waits", || runtime.metrics().total.fiber_parks == 1);
    runtime.shutdown(LONG).unwrap();
    let cancelled = Interrupt::Cancelled;
    let expected = (Some(cancelled), Some(cancelled), Err(cancelled));
    assert_eq!(waiting.join().unwrap(), expected);
}

/// A scope never returns early: it waits for its children, though the runtime is shutting down and
/// they ignore that.
#[test]
fn a_scope_outlives_a_shutdown() {
    let runtime = runtime(2);
    let gate = Arc::new(AtomicBool::new(false));
    let open = Arc::clone(&gate);
    // Of its code: a fiber that counts as started may still be rejected.
    let running = Arc::new(AtomicBool::new(false));
    let runs = Arc::clone(&running);
    let parent = runtime.spawn(move || {
        let mut borrowed = 0;
        pirn::scope(|s| {
            s.spawn(|| {
                runs.store(true, Ordering::SeqCst);
                while !open.load(Ordering::SeqCst) {
                    pirn::yield_now();
                }
                borrowed = 5;
            });
        });
        borrowed
    });
    eventually("the child runs", || running.load(Ordering::SeqCst));
    assert!(runtime.shutdown(Duration::from_millis(20)).is_err());
    assert!(!parent.is_finished());
    gate.store(true, Ordering::SeqCst);
    assert_eq!(parent.join().unwrap(), 5);
}

/// Storms of every kind during the shutdown: nothing hangs, nothing is dropped twice.
#[test]
fn shutdown_in_the_middle_of_everything() {
    for round in 0..scaled(60) {
        let drops = Drops::default();
        let made = Arc::new(AtomicUsize::new(0));
        let runtime = shaped(1 + round % 4, SCHEDULERS[round % 2]);
        let one = {
            let (drops, made) = (drops.clone(), Arc::clone(&made));
            move || {
                made.fetch_add(1, Ordering::SeqCst);
                drops.one()
            }
        };
        for i in 0..50 {
            let (capture, one) = (one(), one.clone());
            runtime.spawn(move || {
                let _capture = capture;
                loop {
                    let inner = one();
                    let child = pirn::spawn(move || {
                        let _inner = inner;
                        pirn::spawn::park_timeout(Duration::from_micros(i * 3));
                    });
                    if child.join().is_err() {
                        break;
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_micros(200 * round as u64 % 5_000));
        runtime.shutdown(LONG).unwrap();
        assert_eq!(drops.count(), made.load(Ordering::SeqCst));
    }
}

/// A worker that does not answer in time leaves a fiber out of all reports: the shutdown fails all
/// the same.
#[test]
fn a_shutdown_fails_though_no_fiber_is_named() {
    let asleep = Arc::new(AtomicBool::new(true));
    let wakes = Arc::clone(&asleep);
    let starts = move || {
        eventually("the shutdown is over", || !wakes.load(Ordering::SeqCst));
    };
    let builder = Runtime::builder().workers(1).max_threads(1);
    let runtime = builder.on_thread_start(starts).build().unwrap();
    let fiber = runtime.spawn(|| ());
    let ended = runtime.shutdown(Duration::from_millis(1));
    asleep.store(false, Ordering::SeqCst);
    let error = ended.expect_err("the fiber has not ended");
    assert!(error.fibers().is_empty());
    assert_eq!(error.to_string(), "some fibers did not end in time");
    assert!(fiber.join().is_err());
}

/// A fiber that waits for a stack is dropped unrun, also if the one that has it ends after a
/// shutdown that took too long: then no other worker is left to take it.
// Proves: F20.
#[test]
fn a_fiber_without_a_stack_ends_after_a_late_one() {
    let builder = Runtime::builder().workers(1).max_threads(4).max_stacks(1);
    let runtime = builder.build().unwrap();
    let (begun, go_on) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let (begins, may_end) = (Arc::clone(&begun), Arc::clone(&go_on));
    let late = runtime.enter(|| {
        let blocks = move || {
            begins.store(true, Ordering::SeqCst);
            while !may_end.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        Builder::new().apart(true).spawn(blocks).unwrap()
    });
    eventually("it has the only stack", || begun.load(Ordering::SeqCst));
    let other = runtime.spawn(|| ());
    eventually("the other finds none", || {
        runtime.metrics().waiting_for_stack == 1
    });
    assert!(runtime.shutdown(Duration::from_millis(10)).is_err());
    go_on.store(true, Ordering::SeqCst);
    late.join().unwrap();
    let ended = other.join_timeout(LONG).expect("it ends");
    assert!(matches!(ended, Err(JoinError::NotRun)), "{ended:?}");
}

/// A worker that retires after a shutdown that took too long, when no other one is left, keeps its
/// fresh fibers: they end.
// Settled.
#[cfg(not(pirn_free))]
#[test]
fn fresh_fibers_of_the_last_worker_end_though_it_retires() {
    use pirn::diag::WorkerState;
    use pirn::runtime::Spread;

    // Many more than a worker runs between two rounds of maintenance.
    const FRESH: usize = 200;
    let builder = Runtime::builder().workers(2).max_threads(2);
    let runtime = builder.spread(Spread::Never).build().unwrap();
    let handle = runtime.handle();
    let inside = Arc::new(AtomicUsize::new(0));
    let ends = Arc::new([const { AtomicBool::new(false) }; 2]);
    let (tx, rx) = std::sync::mpsc::channel();
    for _ in 0..2 {
        let (inside, ends, tx) = (Arc::clone(&inside), Arc::clone(&ends), tx.clone());
        runtime.spawn(move || {
            inside.fetch_add(1, Ordering::SeqCst);
            compute_until("one on each", || inside.load(Ordering::SeqCst) == 2);
            let is_last = std::thread::current().name() == Some("pirn-1");
            if is_last {
                for _ in 0..FRESH {
                    tx.send(pirn::spawn(|| ())).unwrap();
                }
            }
            let end = &ends[usize::from(is_last)];
            compute_until("it is to end", || end.load(Ordering::SeqCst));
        });
    }
    drop(tx);
    let fresh: Vec<_> = rx.iter().take(FRESH).collect();
    assert!(runtime.shutdown(Duration::ZERO).is_err());
    ends[0].store(true, Ordering::SeqCst);
    eventually("the first worker ends", || {
        handle.metrics().workers[0].state == WorkerState::Dead
    });
    handle.set_workers(std::num::NonZeroUsize::MIN);
    ends[1].store(true, Ordering::SeqCst);
    assert_eq!(fresh.len(), FRESH);
    for fiber in fresh {
        assert!(fiber.join_timeout(LONG).is_ok(), "a fiber is lost");
    }
}

//! Fibers that may migrate: they resume on any idle worker, and none of their state is lost.

use std::cell::Cell;
use std::hint;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pirn::cancel::{self, Token};
use pirn::diag::State;
use pirn::runtime::{Builder, Scheduler};
use pirn::sync::Event;
use pirn::{Interrupt, Runtime, channel, time};

use crate::util::{LONG, SCHEDULERS, SLACK, compute_until, eventually, scaled};

pub(crate) fn builder(workers: usize) -> Builder {
    let builder = Runtime::builder().workers(workers);
    // SAFETY: the code of these tests keeps no reference to a thread-local over a wait; it inspects
    // the thread only in functions that are not inlined.
    unsafe { builder.free_migration() }
}

pub(crate) fn free(workers: usize, scheduler: Scheduler) -> Runtime {
    let builder = builder(workers).scheduler(scheduler);
    builder.build().expect("a runtime starts")
}

fn on_every_shape(test: impl Fn(&Runtime)) {
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 4, 8] {
            let runtime = free(workers, scheduler);
            test(&runtime);
            assert_eq!(runtime.metrics().total.rescues, 0);
        }
    }
}

#[inline(never)]
pub(crate) fn thread_now() -> ThreadId {
    thread::current().id()
}

/// Blocks the thread, as a call into the system does.
fn block(gate: &AtomicBool) {
    let start = Instant::now();
    while !gate.load(Ordering::SeqCst) {
        assert!(start.elapsed() < LONG, "the gate stays shut");
        thread::sleep(Duration::from_millis(1));
    }
}

/// A fiber with a thread blocked by another fiber resumes elsewhere when it is woken.
// Proves: B11.
#[test]
fn a_fiber_woken_behind_a_blocked_one_resumes() {
    for scheduler in SCHEDULERS {
        let runtime = free(2, scheduler);
        let woken = Arc::new(Event::manual());
        let done = Arc::new(AtomicUsize::new(0));
        for _ in 0..100 {
            let (woken, done) = (Arc::clone(&woken), Arc::clone(&done));
            drop(runtime.spawn(move || {
                woken.wait().unwrap();
                done.fetch_add(1, Ordering::SeqCst);
            }));
        }
        eventually("all wait", || runtime.metrics().total.fiber_parks >= 100);
        let gate = Arc::new(AtomicBool::new(false));
        let blocked = Arc::clone(&gate);
        let blocker = runtime.spawn(move || block(&blocked));
        woken.set();
        eventually("all go on", || done.load(Ordering::SeqCst) == 100);
        gate.store(true, Ordering::SeqCst);
        blocker.join().unwrap();
    }
}

/// The same with every worker blocked: a standby worker takes over.
// Proves: B11.
#[test]
fn all_workers_blocked() {
    let runtime = free(2, Scheduler::WorkStealing);
    let (tx, rx) = channel::bounded::<usize>(0);
    let echo = runtime.spawn(move || rx.iter().sum::<usize>());
    eventually("it waits", || runtime.metrics().total.fiber_parks >= 1);
    let gate = Arc::new(AtomicBool::new(false));
    let blockers: Vec<_> = (0..2)
        .map(|_| {
            let gate = Arc::clone(&gate);
            runtime.spawn(move || block(&gate))
        })
        .collect();
    (0..100).for_each(|number| tx.send(number).unwrap());
    drop(tx);
    assert_eq!(echo.join().unwrap(), 4950);
    gate.store(true, Ordering::SeqCst);
    blockers
        .into_iter()
        .for_each(|blocker| blocker.join().unwrap());
}

/// Sleepers keep their beat while all workers that they have slept on are blocked.
// Proves: E11.
#[test]
fn timers_of_blocked_workers_fire() {
    let runtime = free(2, Scheduler::WorkStealing);
    let beats = Arc::new(AtomicUsize::new(0));
    let over = Arc::new(AtomicBool::new(false));
    let hearts: Vec<_> = (0..4)
        .map(|_| {
            let (beats, over) = (Arc::clone(&beats), Arc::clone(&over));
            runtime.spawn(move || {
                while !over.load(Ordering::SeqCst) {
                    time::sleep(Duration::from_millis(5)).unwrap();
                    beats.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    eventually("they beat", || beats.load(Ordering::SeqCst) >= 4);
    let gate = Arc::new(AtomicBool::new(false));
    let blockers: Vec<_> = (0..20)
        .map(|_| {
            let gate = Arc::clone(&gate);
            runtime.spawn(move || block(&gate))
        })
        .collect();
    let before = beats.load(Ordering::SeqCst);
    eventually("they go on beating", || {
        beats.load(Ordering::SeqCst) >= before + 200
    });
    gate.store(true, Ordering::SeqCst);
    over.store(true, Ordering::SeqCst);
    let all = blockers.into_iter().chain(hearts);
    all.for_each(|fiber| fiber.join().unwrap());
}

/// A hundred fibers block their threads, and resume on any worker when the calls return.
// Proves: E12.
#[test]
fn a_hundred_kidnapped_fibers_complete() {
    let runtime = free(4, Scheduler::WorkStealing);
    let ended = Arc::new(AtomicUsize::new(0));
    let sleepers: Vec<_> = (0..100)
        .map(|_| {
            let ended = Arc::clone(&ended);
            runtime.spawn(move || {
                thread::sleep(Duration::from_millis(50));
                pirn::yield_now();
                time::sleep(Duration::from_millis(1)).unwrap();
                ended.fetch_add(1, Ordering::SeqCst);
            })
        })
        .collect();
    sleepers.into_iter().for_each(|fiber| fiber.join().unwrap());
    assert_eq!(ended.load(Ordering::SeqCst), 100);
}

/// Runs `fiber` on a runtime with two workers, both of which are blocked while it waits in the call
/// that it is given: so that call returns on a third thread.
fn taken_elsewhere<T: Send + 'static>(
    fiber: impl FnOnce(&dyn Fn()) -> T + Send + 'static,
) -> T {
    let runtime = free(2, Scheduler::WorkStealing);
    let gate = Arc::new(Event::manual());
    let theirs = Arc::clone(&gate);
    let fiber = runtime.spawn(move || fiber(&|| theirs.wait().unwrap()));
    eventually("it waits", || runtime.metrics().total.fiber_parks >= 1);
    let (shut, inside) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let blockers: Vec<_> = (0..2)
        .map(|_| {
            let (shut, inside) = (Arc::clone(&shut), Arc::clone(&inside));
            runtime.spawn(move || {
                inside.fetch_add(1, Ordering::SeqCst);
                block(&shut);
            })
        })
        .collect();
    eventually("both are blocked", || inside.load(Ordering::SeqCst) == 2);
    gate.set();
    let result = fiber.join().unwrap();
    shut.store(true, Ordering::SeqCst);
    let blockers = blockers.into_iter();
    blockers.for_each(|fiber| fiber.join().unwrap());
    result
}

/// A fiber does change threads, and finds all of its state unchanged.
// Proves: F-X-free.
#[test]
fn a_fiber_resumes_on_another_thread() {
    let (before, after) = taken_elsewhere(|wait| {
        // Not `Send`, and the fiber's own.
        let own = std::rc::Rc::new(Cell::new(7));
        let before = thread_now();
        wait();
        assert_eq!(own.get(), 7);
        (before, thread_now())
    });
    assert_ne!(before, after);
}

pirn::fiber_local! {
    static OWN: Cell<usize> = Cell::new(0);
}

/// A fiber takes its fiber-locals, its deadline and its token along to another thread.
// Proves: F18.
#[test]
fn the_context_of_a_fiber_migrates_with_it() {
    let limit = time::now() + LONG;
    let stop = Token::new();
    let (before, after) = taken_elsewhere(move |wait| {
        let before = thread_now();
        OWN.set(7);
        let stays = || {
            wait();
            assert_eq!(OWN.get(), 7);
            assert_eq!(cancel::deadline(), Some(limit));
            assert_eq!(cancel::reason(), None);
            stop.cancel();
            assert_eq!(cancel::reason(), Some(Interrupt::Cancelled));
        };
        cancel::with_deadline(limit, || stop.enter(stays));
        assert_eq!((cancel::deadline(), cancel::reason()), (None, None));
        (before, thread_now())
    });
    assert_ne!(before, after);
    assert_eq!(OWN.get(), 0, "this thread's");
}

thread_local! {
    static MARK: Cell<usize> = const { Cell::new(0) };
}

#[inline(never)]
fn mark() -> usize {
    MARK.with(|mark| std::ptr::from_ref(mark).addr())
}

/// The reason for the contract: after a wait, a thread-local is a different one.
// Proves: F-X-free.
#[test]
fn a_thread_local_is_another_one_afterwards() {
    let (before, after) = taken_elsewhere(|wait| {
        let before = mark();
        wait();
        (before, mark())
    });
    assert_ne!(before, after);
}

/// While it unwinds a fiber stays on its thread, in every wait of its destructors.
// Proves: F-X-free.
#[test]
fn a_fiber_that_unwinds_stays() {
    struct Waits {
        on: ThreadId,
        gate: Arc<Event>,
    }
    impl Drop for Waits {
        fn drop(&mut self) {
            assert!(thread::panicking());
            self.gate.wait().unwrap();
            assert!(thread::panicking());
            assert_eq!(self.on, thread_now());
            pirn::yield_now();
            assert!(thread::panicking());
            assert_eq!(self.on, thread_now());
        }
    }
    for workers in [1, 2, 4] {
        let runtime = free(workers, Scheduler::WorkStealing);
        let gate = Arc::new(Event::manual());
        let fibers: Vec<_> = (0..10)
            .map(|_| {
                let gate = Arc::clone(&gate);
                runtime.spawn(move || {
                    let caught = catch_unwind(AssertUnwindSafe(|| {
                        let _waits = Waits {
                            on: thread_now(),
                            gate,
                        };
                        resume_unwind(Box::new(7));
                    }));
                    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&7));
                    pirn::yield_now();
                })
            })
            .collect();
        let others: Vec<_> = (0..10)
            .map(|_| {
                runtime.spawn(|| {
                    for _ in 0..100 {
                        pirn::yield_now();
                        hint::spin_loop();
                    }
                })
            })
            .collect();
        others.into_iter().for_each(|fiber| fiber.join().unwrap());
        gate.set();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        // Each count is back to zero where it was raised.
        for _ in 0..20 * workers {
            runtime
                .spawn(|| assert!(!thread::panicking()))
                .join()
                .unwrap();
        }
    }
}

/// Values pass between fibers on different workers, each once.
#[test]
fn a_ring_of_channels() {
    on_every_shape(|runtime| {
        let rounds = scaled(300);
        let (first, mut last) = channel::bounded::<usize>(0);
        let mut fibers = Vec::new();
        for _ in 0..16 {
            let (tx, rx) = channel::bounded(0);
            let from = std::mem::replace(&mut last, rx);
            fibers.push(runtime.spawn(move || {
                for value in from {
                    tx.send(value + 1).unwrap();
                }
            }));
        }
        let feed =
            runtime.spawn(move || (0..rounds).for_each(|n| first.send(n).unwrap()));
        let got: Vec<usize> = runtime.run(|| last.iter().collect());
        assert_eq!(got, (16..16 + rounds).collect::<Vec<_>>());
        feed.join().unwrap();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
}

/// Waits with limits, with the timers on one worker's wheel and the fiber on another.
// Proves: F-X-free.
#[test]
fn limits_and_wakes_race() {
    on_every_shape(|runtime| {
        let (tx, rx) = channel::bounded::<usize>(0);
        let sent = Arc::new(AtomicUsize::new(0));
        let senders: Vec<_> = (0..8)
            .map(|number| {
                let (tx, sent) = (tx.clone(), Arc::clone(&sent));
                runtime.spawn(move || {
                    for step in 0..scaled(100) as u64 {
                        let limit = Duration::from_micros(50 * (step % 7));
                        if tx.send_timeout(number, limit).is_ok() {
                            sent.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                })
            })
            .collect();
        drop(tx);
        let receivers: Vec<_> = (0..4)
            .map(|_| {
                let rx = rx.clone();
                runtime.spawn(move || {
                    let mut got = 0;
                    loop {
                        match rx.recv_timeout(Duration::from_micros(100)) {
                            Ok(_) => got += 1,
                            Err(channel::RecvTimeoutError::Disconnected) => return got,
                            Err(_) => {}
                        }
                    }
                })
            })
            .collect();
        senders.into_iter().for_each(|fiber| fiber.join().unwrap());
        let got: usize = receivers
            .into_iter()
            .map(|fiber| fiber.join().unwrap())
            .sum();
        assert_eq!(got, sent.load(Ordering::SeqCst));
    });
}

/// Reports hold fibers for a moment while these are woken, time out and end: nothing is lost, and
/// the reported fibers do wait.
// Proves: F-X-held.
#[test]
fn reports_amid_a_storm() {
    for workers in [1, 2, 4] {
        let runtime = free(workers, Scheduler::WorkStealing);
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::new(AtomicBool::new(false));
        let (handle, done) = (runtime.handle(), Arc::clone(&over));
        let sees = Arc::clone(&seen);
        let asker = thread::spawn(move || {
            while !done.load(Ordering::SeqCst) {
                for fiber in handle.fibers() {
                    if fiber.state == State::Parked {
                        assert!(fiber.reason.is_some());
                        sees.store(true, Ordering::SeqCst);
                    }
                }
            }
        });
        let (tx, rx) = channel::bounded::<usize>(0);
        let stays = runtime.spawn(move || {
            time::sleep(Duration::from_millis(200)).unwrap();
            while !seen.load(Ordering::SeqCst) {
                time::sleep(Duration::from_millis(1)).unwrap();
            }
        });
        let fibers: Vec<_> = (0..20)
            .map(|number| {
                let (tx, rx) = (tx.clone(), rx.clone());
                runtime.spawn(move || {
                    for step in 0..scaled(200) {
                        if (number + step) % 2 == 0 {
                            let _ = tx.send_timeout(step, Duration::from_micros(200));
                        } else {
                            let _ = rx.recv_timeout(Duration::from_micros(200));
                        }
                        drop(pirn::spawn(pirn::yield_now).join());
                    }
                })
            })
            .collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        stays.join().unwrap();
        over.store(true, Ordering::SeqCst);
        asker.join().unwrap();
        assert_eq!(runtime.metrics().total.rescues, 0);
    }
}

/// A fiber that waits while it unwinds is on its stack, though it is parked: reports do not read
/// its frames, neither while it blocks its thread nor after it has been suspended.
#[test]
fn reports_of_fibers_that_unwind() {
    struct Waits(Arc<Event>);
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.wait().unwrap();
        }
    }
    #[inline(never)]
    fn deep(depth: usize, gate: &Arc<Event>) -> u8 {
        let frame = hint::black_box([depth as u8; 512]);
        if depth == 0 {
            let _waits = Waits(Arc::clone(gate));
            resume_unwind(Box::new(7));
        }
        let below = deep(depth - 1, gate);
        frame[below as usize % 512]
    }
    for workers in [1, 2] {
        let runtime = free(workers, Scheduler::WorkStealing);
        let gate = Arc::new(Event::manual());
        let theirs = Arc::clone(&gate);
        let unwinds = runtime.spawn(move || {
            time::sleep(Duration::from_millis(1)).unwrap();
            let caught = catch_unwind(AssertUnwindSafe(|| deep(40, &theirs)));
            assert_eq!(caught.unwrap_err().downcast_ref(), Some(&7));
        });
        let others: Vec<_> = (0..2)
            .map(|_| runtime.spawn(|| (0..200).for_each(|_| pirn::yield_now())))
            .collect();
        let waits = |fiber: &pirn::diag::FiberInfo| fiber.state == State::Parked;
        eventually("it waits", || runtime.fibers().iter().any(waits));
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(100) {
            drop(runtime.fibers());
        }
        gate.set();
        unwinds.join().unwrap();
        others.into_iter().for_each(|fiber| fiber.join().unwrap());
    }
}

/// The end of a runtime reaches every fiber, also those of a stuck worker.
#[test]
fn shutdown_reaches_those_behind_a_stuck_worker() {
    for workers in [1, 2, 4] {
        let runtime = builder(workers).max_threads(workers + 2).build().unwrap();
        let (tx, rx) = channel::bounded::<()>(0);
        let waiting: Vec<_> = (0..100)
            .map(|_| {
                let rx = rx.clone();
                runtime.spawn(move || rx.recv().is_err())
            })
            .collect();
        eventually("all wait", || runtime.metrics().total.fiber_parks >= 100);
        let (started, stop) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicBool::new(false)),
        );
        let (begun, theirs) = (Arc::clone(&started), Arc::clone(&stop));
        drop(runtime.spawn(move || {
            begun.store(true, Ordering::SeqCst);
            compute_until("it is stopped", || theirs.load(Ordering::SeqCst));
        }));
        eventually("it computes", || started.load(Ordering::SeqCst));
        let left = runtime
            .shutdown(Duration::from_millis(500) * SLACK.min(8))
            .unwrap_err();
        assert_eq!(left.fibers().len(), 1, "{left}");
        for fiber in waiting {
            assert!(fiber.join().unwrap());
        }
        stop.store(true, Ordering::SeqCst);
        drop(tx);
    }
}

/// Migrating fibers wake, and are woken by, fibers that have settled elsewhere, and threads.
// Proves: F-X-free.
#[test]
fn two_modes_talk() {
    let (mobile, settled) = (
        free(2, Scheduler::WorkStealing),
        Runtime::builder().workers(2).build().unwrap(),
    );
    let (there, back) = (channel::bounded(0), channel::bounded(0));
    let (rx, tx) = (there.1, back.0);
    let echoes: Vec<_> = (0..4)
        .map(|_| {
            let (rx, tx) = (rx.clone(), tx.clone());
            mobile
                .spawn(move || rx.iter().for_each(|value: usize| tx.send(value).unwrap()))
        })
        .collect();
    drop((rx, tx));
    let (tx, rx) = (there.0, back.1);
    let count = scaled(2_000);
    let asker = settled.spawn(move || {
        let mut sum = 0;
        for value in 0..count {
            tx.send(value).unwrap();
            sum += rx.recv().unwrap();
        }
        sum
    });
    assert_eq!(asker.join().unwrap(), (0..count).sum::<usize>());
    echoes.into_iter().for_each(|fiber| fiber.join().unwrap());
}

/// Fibers of a runtime without workers do not migrate, also on the thread of a worker with fibers that
/// did.
// Proves: F-X-free.
#[test]
fn a_thread_is_an_ordinary_one_after_its_worker() {
    let (tell, told) = std::sync::mpsc::channel();
    let on_stop = move || {
        let runtime = Runtime::builder().workers(0).build().unwrap();
        let (tx, rx) = channel::bounded::<u8>(1);
        let waiter = runtime.spawn(move || rx.recv());
        runtime.run_until_idle();
        tx.send(7).unwrap();
        runtime.run_until_idle();
        tell.send(waiter.join().unwrap()).unwrap();
    };
    let runtime = builder(1).on_thread_stop(on_stop).build().unwrap();
    runtime.run(|| ());
    drop(runtime);
    assert_eq!(told.recv(), Ok(Ok(7)));
}

//! The promised figures, on workers with blocked threads: how soon other threads replace them, and
//! for how long. Each test runs alone on the machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn::blocking::block_in_place;
use pirn::dispatcher::Dispatcher;
use pirn::runtime::Scheduler;
use pirn::spawn::JoinHandle;
use pirn::sync::Event;
use pirn::time::{now, sleep, sleep_until};

use crate::executor_kind::runtime;
use crate::figures::{Call, mostly_within, percentile, within};
use crate::free::free;
use crate::util::{SCHEDULERS, apart, compute_until, eventually};

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A thousand fibers that are woken while the thread they have waited on is blocked, for a second,
/// have all run within 50 ms; with every worker blocked as well.
// Proves: B11.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_thousand_woken_behind_stuck_workers_run_soon() {
    for scheduler in SCHEDULERS {
        for (workers, blocked) in [(2, 1), (2, 2), (4, 4)] {
            let runtime = free(workers, scheduler);
            let (woken, calls) = (Arc::new(Event::manual()), Arc::new(Call::default()));
            let done = Arc::new(AtomicUsize::new(0));
            for _ in 0..1_000 {
                let (woken, done) = (Arc::clone(&woken), Arc::clone(&done));
                drop(runtime.spawn(move || {
                    woken.wait().unwrap();
                    done.fetch_add(1, SeqCst);
                }));
            }
            eventually("all wait", || runtime.metrics().total.fiber_parks >= 1_000);
            let inside = Arc::new(AtomicUsize::new(0));
            let blockers: Vec<_> = (0..blocked)
                .map(|_| {
                    let (inside, calls) = (Arc::clone(&inside), Arc::clone(&calls));
                    runtime.spawn(move || {
                        inside.fetch_add(1, SeqCst);
                        calls.block();
                    })
                })
                .collect();
            eventually("they block", || inside.load(SeqCst) == blocked);
            let start = now();
            woken.set();
            while done.load(SeqCst) < 1_000 && start.elapsed() < ms(2_000) {
                thread::sleep(ms(1));
            }
            let took = start.elapsed();
            calls.end();
            blockers.into_iter().for_each(|fiber| fiber.join().unwrap());
            within("a thousand woken ones", took, ms(50));
        }
    }
}

/// How often a timer wakes a fiber.
const BEAT: Duration = ms(10);

/// Runs four fibers that a timer wakes, on a runtime where fibers may migrate, for a second beside
/// the load that `disturb` starts. Returns the percentage of beats that were on time.
fn beats(
    disturb: impl FnOnce(&Runtime, &Arc<AtomicBool>) -> Vec<JoinHandle<()>>,
) -> u128 {
    const HEARTS: usize = 4;
    let runtime = free(2, Scheduler::WorkStealing);
    let (had, over) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let hearts: Vec<_> = (0..HEARTS)
        .map(|_| {
            let (had, over) = (Arc::clone(&had), Arc::clone(&over));
            runtime.spawn(move || {
                let mut next = now();
                while !over.load(SeqCst) {
                    // Beats that are over are missed.
                    while next <= now() {
                        next += BEAT;
                    }
                    sleep_until(next).unwrap();
                    had.fetch_add(1, SeqCst);
                }
            })
        })
        .collect();
    eventually("they beat", || had.load(SeqCst) >= HEARTS);
    let others = disturb(&runtime, &over);
    let (start, before) = (Instant::now(), had.load(SeqCst));
    thread::sleep(ms(1_000));
    let had = had.load(SeqCst) - before;
    let due = start.elapsed().as_millis() / BEAT.as_millis() * HEARTS as u128;
    over.store(true, SeqCst);
    let all = hearts.into_iter().chain(others);
    all.for_each(|fiber| fiber.join().unwrap());
    had as u128 * 100 / due
}

fn blockers(runtime: &Runtime, over: &Arc<AtomicBool>, n: usize) -> Vec<JoinHandle<()>> {
    let one = |_| {
        let over = Arc::clone(over);
        runtime.spawn(move || {
            while !over.load(SeqCst) {
                thread::sleep(ms(20));
            }
        })
    };
    (0..n).map(one).collect()
}

/// Four of five beats are kept while every worker blocks in a call into the system.
// Proves: E11, N3.
#[cfg(not(pirn_tsan))]
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_beats_are_kept_beside_blocked_workers() {
    let kept = beats(|runtime, over| blockers(runtime, over, 20));
    assert!(kept >= 80, "{kept} % of the beats");
}

/// The same while other fibers block, and more compute than there are workers.
// Proves: E2, N3.
#[cfg(not(pirn_tsan))]
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_beats_are_kept_beside_blocked_and_computing_workers() {
    let kept = beats(|runtime, over| {
        let mut all = blockers(runtime, over, 20);
        for _ in 0..3 {
            let over = Arc::clone(over);
            all.push(runtime.spawn(move || {
                compute_until("the end", || over.load(SeqCst));
            }));
        }
        all
    });
    assert!(kept >= 80, "{kept} % of the beats");
}

/// Two seconds after a wave of calls that block there are no more threads than workers.
// Proves: E10.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_threads_of_a_wave_go_soon() {
    let threads = Arc::new(AtomicUsize::new(0));
    let (started, stopped) = (Arc::clone(&threads), Arc::clone(&threads));
    let runtime = Runtime::builder()
        .workers(2)
        .on_thread_start(move || _ = started.fetch_add(1, SeqCst))
        .on_thread_stop(move || _ = stopped.fetch_sub(1, SeqCst))
        .build()
        .unwrap();
    for _ in 0..3 {
        let fibers: Vec<_> = (0..32)
            .map(|_| runtime.spawn(|| thread::sleep(ms(100))))
            .collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        let start = Instant::now();
        assert!(threads.load(SeqCst) > 2, "others have stood in");
        thread::sleep(ms(500));
        assert!(threads.load(SeqCst) > 2, "they stay for a second");
        eventually("they go", || threads.load(SeqCst) <= 2);
        within("threads that stay", start.elapsed(), ms(2_000));
    }
}

/// Sixty-four calls of 100 ms on the dispatcher for I/O have ended within 250 ms, and a fiber of a
/// runtime that is idle meanwhile starts within 5 ms.
// Proves: L2.
#[cfg(not(pirn_tsan))]
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_blocking_calls_run_side_by_side() {
    let name = "figures_elastic::alone_blocking_calls_run_side_by_side";
    let part = || {
        let runtime = runtime(2);
        let io = Dispatcher::io();
        let start = now();
        let calls: Vec<_> = (0..64)
            .map(|_| io.spawn(|| thread::sleep(ms(100))))
            .collect();
        let mut waits = Vec::new();
        while start.elapsed() < ms(90) {
            let spawned = now();
            waits.push(runtime.spawn(move || now() - spawned).join().unwrap());
            thread::sleep(ms(1));
        }
        calls.into_iter().for_each(|call| call.join().unwrap());
        let took = start.elapsed();
        within("64 calls", took, ms(250));
        within("a fiber beside them", percentile(&mut waits, 99), ms(5));
    };
    if let Some(ended) = apart(name, &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// A fiber behind one that blocks in place starts elsewhere before the monitor, which checks each
/// millisecond or two, could detect it: the median of a hundred within one, nine of ten within two,
/// and all but one within ten.
// Proves: L9.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_blocking_in_place_hands_on_at_once() {
    let runtime = runtime(2);
    let mut waits: Vec<Duration> = (0..100)
        .map(|_| {
            runtime.run(|| {
                let start = now();
                let child = pirn::spawn(move || now() - start);
                block_in_place(|| {
                    while !child.is_finished() {
                        thread::sleep(Duration::from_micros(100));
                    }
                });
                child.join().unwrap()
            })
        })
        .collect();
    let what = "what waits behind it";
    mostly_within(what, &mut waits, ms(1));
    within(what, percentile(&mut waits, 90), ms(2));
}

/// A hundred fibers that block in place for 100 ms do so concurrently.
// Proves: L9.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_hundred_block_in_place_side_by_side() {
    let runtime = Runtime::builder().workers(2).max_threads(512);
    let runtime = runtime.build().unwrap();
    let start = now();
    let fibers: Vec<_> = (0..100)
        .map(|_| runtime.spawn(|| block_in_place(|| thread::sleep(ms(100)))))
        .collect();
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    within("a hundred naps in place", start.elapsed(), ms(250));
}

/// While a submitter waits for room in a full queue, its worker keeps the beat of its other fibers.
// Proves: L8.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_worker_goes_on_beside_a_submitter() {
    let single = Dispatcher::single().unwrap().queue_limit(2);
    let runtime = runtime(1);
    let submitter = runtime.spawn(move || {
        let calls: Vec<_> = (0..20)
            .map(|_| single.spawn(|| thread::sleep(ms(10))))
            .collect();
        calls.into_iter().for_each(|call| call.join().unwrap());
    });
    let mut late = runtime.run(|| {
        let mut late = Vec::new();
        while !submitter.is_finished() {
            let at = now() + ms(1);
            sleep(ms(1)).unwrap();
            late.push(now() - at);
        }
        late
    });
    submitter.join().unwrap();
    assert!(late.len() >= 50, "{} beats in 200 ms", late.len());
    within("a beat is late", percentile(&mut late, 99), ms(5));
}

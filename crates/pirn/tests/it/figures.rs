//! The promised figures, on workers that sleep, compute or are full: how soon a fiber starts,
//! resumes, ends. Each test runs alone on the machine.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use std::{array, thread};

use pirn::channel::{self, RecvError};
use pirn::runtime::Builder;
use pirn::time::{now, sleep_until};
use pirn::{Interrupt, Runtime};

use crate::executor_kind::{runtime, until};
use crate::util::{Dice, SCHEDULERS, SLACK, compute_until, eventually, scaled};

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// At most `limit`, or its multiple under a sanitizer.
#[track_caller]
pub(crate) fn within(what: &str, took: Duration, limit: Duration) {
    assert!(took < SLACK * limit, "{what}: {took:?}, not {limit:?}");
}

/// Returns the given percentile.
pub(crate) fn percentile(all: &mut [Duration], percent: usize) -> Duration {
    all.sort_unstable();
    all[(all.len() - 1) * percent / 100]
}

/// At most `limit` for half of them, and at most ten times as long for 99 of 100; if they are a
/// hundred or fewer, for all but one.
#[track_caller]
pub(crate) fn mostly_within(what: &str, all: &mut [Duration], limit: Duration) {
    within(what, percentile(all, 50), limit);
    within(what, percentile(all, 99), 10 * limit);
}

/// A call into the system that lasts until it is released, a second at most.
#[derive(Default)]
pub(crate) struct Call(Mutex<bool>, Condvar);

impl Call {
    pub(crate) fn block(&self) {
        let ended = self.0.lock().unwrap();
        drop(self.1.wait_timeout_while(ended, ms(1_000), |ended| !*ended));
    }

    pub(crate) fn end(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }
}

/// Of 32 fibers from outside the one that starts first blocks its thread for a second: the 31
/// others, some of which its worker has fetched, run within 20 ms.
// Proves: B10.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_what_a_stuck_worker_has_fetched_runs_soon() {
    for scheduler in SCHEDULERS {
        for workers in [1, 2] {
            for _ in 0..10 {
                let builder = Runtime::builder().workers(workers);
                behind_a_stuck_worker(builder.max_threads(8).scheduler(scheduler));
            }
        }
    }
}

fn behind_a_stuck_worker(builder: Builder) {
    let runtime = builder.build().unwrap();
    let (call, first) = (Arc::new(Call::default()), Arc::new(AtomicBool::new(true)));
    let (ran, began) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None)));
    let fibers: Vec<_> = (0..32)
        .map(|_| {
            let (call, first) = (Arc::clone(&call), Arc::clone(&first));
            let (ran, began) = (Arc::clone(&ran), Arc::clone(&began));
            runtime.spawn(move || {
                if first.swap(false, SeqCst) {
                    *began.lock().unwrap() = Some(Instant::now());
                    call.block();
                } else if ran.fetch_add(1, SeqCst) == 30 {
                    call.end();
                }
            })
        })
        .collect();
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    let took = began.lock().unwrap().unwrap().elapsed();
    within("31 fibers behind a stuck one", took, ms(20));
}

/// Fibers of one of 64 workers spread to all of them.
// Proves: C1.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_work_spreads_to_every_worker_soon() {
    const WORKERS: usize = 64;
    let builder = Runtime::builder().workers(WORKERS).max_threads(WORKERS);
    let runtime = builder.build().unwrap();
    let arrived = AtomicUsize::new(0);
    let arrived = &arrived;
    let all = move || arrived.load(SeqCst) == WORKERS - 1;
    let start = now();
    runtime.scope(|s| {
        s.spawn(move || {
            for _ in 0..WORKERS - 1 {
                s.spawn(move || {
                    arrived.fetch_add(1, SeqCst);
                    eventually("every worker takes one", all);
                });
            }
            eventually("the others take all", all);
        });
    });
    within("work on 64 workers", now() - start, ms(250));
}

/// The first fiber of a runtime starts within 500 µs of its spawn, a burst of 50 within a
/// millisecond: the median of 20 new runtimes. All but one take at most ten times as long.
// Proves: E13.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_cold_runtime_starts_soon() {
    let mut firsts = [Duration::ZERO; 20];
    let mut bursts = firsts;
    for (first, burst) in firsts.iter_mut().zip(&mut bursts) {
        let cold = runtime(2);
        let start = now();
        *first = cold.spawn(now).join().unwrap() - start;
        let cold = runtime(2);
        let start = now();
        let fibers: [_; 50] = array::from_fn(|_| cold.spawn(now));
        let last = fibers.into_iter().map(|fiber| fiber.join().unwrap()).max();
        *burst = last.unwrap() - start;
    }
    let limit = Duration::from_micros(500);
    mostly_within("the first fiber", &mut firsts, limit);
    mostly_within("the last of 50", &mut bursts, ms(1));
}

/// A stuck worker, with a fiber behind it, is detected within 5 ms: by then that fiber starts
/// elsewhere, in nine of ten cases, and in all but one of 40 within 50 ms.
// Proves: E5.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_stuck_worker_is_found_out_soon() {
    let mut waits: Vec<Duration> = (0..40)
        .map(|_| {
            // A new runtime: no spawn line has a history of blocking.
            let builder = Runtime::builder().workers(1).max_threads(8);
            let runtime = builder.build().unwrap();
            runtime.run(|| {
                let spawned = now();
                let child = pirn::spawn(move || now() - spawned);
                let start = Instant::now();
                while !child.is_finished() && start.elapsed() < ms(1_000) {
                    thread::sleep(ms(1));
                }
                child.join().unwrap()
            })
        })
        .collect();
    let what = "a fiber behind a stuck one";
    within(what, percentile(&mut waits, 90), ms(5));
    within(what, percentile(&mut waits, 99), ms(50));
}

/// A thousand parked receivers of a cancelled scope have ended within 50 ms.
// Proves: K2.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_thousand_cancelled_receivers_end_soon() {
    for workers in [1, 2, 4, 8] {
        let n = scaled(1_000);
        let (began, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (_tx, rx) = channel::bounded::<u8>(0);
        let cancelled = RecvError::Interrupted(Interrupt::Cancelled);
        let took = runtime(workers).run(|| {
            let mut start = now();
            pirn::scope(|s| {
                for _ in 0..n {
                    s.spawn(|| {
                        began.fetch_add(1, SeqCst);
                        assert_eq!(rx.recv(), Err(cancelled));
                        ended.fetch_add(1, SeqCst);
                    });
                }
                until(&began, n);
                start = now();
                s.cancel();
            });
            now() - start
        });
        assert_eq!(ended.into_inner(), n);
        within("a thousand cancellations", took, ms(50));
    }
}

/// A hundred thousand sleeps of random length, up to two seconds, on two workers: 99 of 100 are
/// late by less than 2 ms. They are spawned over ten seconds, so that the test measures the timers
/// and not the load.
// Proves: N1.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_hundred_thousand_sleeps_are_exact() {
    const BATCH: usize = 20;
    let n = scaled(100_000);
    let mut dice = Dice(7);
    let mut late: Vec<Duration> = runtime(2).run(|| {
        let start = now();
        let mut sleepers = Vec::with_capacity(n);
        for i in 0..n {
            if i % BATCH == 0 {
                sleep_until(start + ms(i as u64 / BATCH as u64 * 2)).unwrap();
            }
            let nap = Duration::from_micros(dice.below(2_000_000) as u64);
            sleepers.push(pirn::spawn(move || {
                let at = now() + nap;
                sleep_until(at).unwrap();
                now() - at
            }));
        }
        let late = sleepers.into_iter().map(|sleeper| sleeper.join().unwrap());
        late.collect()
    });
    within("a sleeper is late", percentile(&mut late, 99), ms(2));
}

/// A fiber that computes on one worker delays no sleeper of another one.
// Proves: N1.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_sleepers_beside_a_computing_fiber_are_exact() {
    let runtime = runtime(2);
    let over = Arc::new(AtomicBool::new(false));
    let (busy, is_busy) = channel::bounded(1);
    let seen = Arc::clone(&over);
    let computing = runtime.spawn(move || {
        busy.send(()).unwrap();
        compute_until("the end", || seen.load(SeqCst));
    });
    is_busy.recv().unwrap();
    let mut late = runtime.run(|| {
        let late = (0..500).map(|_| {
            let at = now() + ms(2);
            sleep_until(at).unwrap();
            now() - at
        });
        late.collect::<Vec<_>>()
    });
    over.store(true, SeqCst);
    computing.join().unwrap();
    within("a sleeper is late", percentile(&mut late, 99), ms(2));
}

/// A byte to a sleeping runtime, and back, takes less than 100 µs: the median of 500. 99 of 100
/// take less than 2 ms.
// Proves: N4.
#[cfg(unix)]
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_an_idle_runtime_answers_at_once() {
    use crate::sockets_util::{at_once, echo, listener};
    use std::io::{Read, Write};
    let runtime = runtime(2);
    let listener = listener();
    let address = listener.local_addr().unwrap();
    let server = runtime.spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        at_once(&stream);
        echo(&stream).unwrap()
    });
    let mut client = std::net::TcpStream::connect(address).unwrap();
    client.set_nodelay(true).unwrap();
    let mut waits: Vec<Duration> = (0..500)
        .map(|n| {
            thread::sleep(ms(1));
            let (start, mut byte) = (Instant::now(), [n as u8]);
            client.write_all(&byte).unwrap();
            client.read_exact(&mut byte).unwrap();
            start.elapsed()
        })
        .collect();
    drop(client);
    assert_eq!(server.join().unwrap(), 500);
    let limit = Duration::from_micros(100);
    within("an answer", percentile(&mut waits, 50), limit);
    within("an answer", percentile(&mut waits, 99), ms(2));
}

/// Eight threads send to eight through one channel: the slowest of ten rounds takes less than three
/// times as long as the fastest.
// Proves: Q5.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_contention_costs_much_the_same_each_time() {
    let round = || {
        let (tx, rx) = channel::bounded::<usize>(8);
        let start = Instant::now();
        let got: usize = thread::scope(|s| {
            let receivers: Vec<_> =
                (0..8).map(|_| s.spawn(|| rx.iter().count())).collect();
            for _ in 0..8 {
                let tx = tx.clone();
                s.spawn(move || (0..scaled(20_000)).for_each(|n| tx.send(n).unwrap()));
            }
            drop(tx);
            let receivers = receivers.into_iter();
            receivers.map(|receiver| receiver.join().unwrap()).sum()
        });
        assert_eq!(got, 8 * scaled(20_000));
        start.elapsed()
    };
    round();
    let rounds: Vec<Duration> = (0..10).map(|_| round()).collect();
    let (least, most) = (rounds.iter().min().unwrap(), rounds.iter().max().unwrap());
    assert!(*most < 3 * *least, "{rounds:?}");
}

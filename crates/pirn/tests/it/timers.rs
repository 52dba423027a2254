//! Timers: no wait ends early, and none much too late.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pirn::spawn::park_timeout;
use pirn::time::{now, sleep, sleep_until};
use pirn::{Interrupt, Runtime, channel};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, runtime};
use crate::figures::within;
use crate::util::{
    LONG, SLACK, compute_until, eventually, on_every_shape, processor_time, scaled,
    sleeps,
};

/// A sleep takes as long as requested, on fibers and on threads.
#[test]
fn a_sleep_takes_its_time() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for i in 0..20 {
            jobs.add(move || {
                let nap = Duration::from_micros(37 * i * i);
                let start = now();
                sleep(nap).unwrap();
                let took = now() - start;
                assert!(took >= nap, "{took:?} instead of {nap:?}");
                let at = now() + nap;
                sleep_until(at).unwrap();
                assert!(now() >= at);
            });
        }
        jobs.run(executor, 2);
    }
}

/// Sleeping until a past moment, or for no time, yields once.
#[test]
fn a_sleep_of_no_length_yields() {
    alone(|| {
        let order = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&order);
        let sibling = pirn::spawn(move || seen.fetch_add(1, Ordering::SeqCst));
        sleep(Duration::ZERO).unwrap();
        assert_eq!(order.load(Ordering::SeqCst), 1);
        sleep_until(now()).unwrap();
        sleep_until(
            now()
                .checked_sub(Duration::from_secs(1))
                .unwrap_or_else(now),
        )
        .unwrap();
        sibling.join().unwrap();
    });
}

/// A sleep without an end ends when its fiber is cancelled.
#[test]
fn a_sleep_for_ever_can_be_cancelled() {
    alone(|| {
        for length in [Duration::MAX, Duration::from_secs(1 << 40), LONG] {
            let fiber = pirn::spawn(move || sleep(length));
            pirn::yield_now();
            assert!(!fiber.is_finished());
            fiber.cancel();
            assert_eq!(fiber.join().unwrap(), Err(Interrupt::Cancelled));
        }
    });
}

/// A thread that parks for longer than any clock counts is woken like any other.
#[test]
fn a_thread_waits_for_ever_without_harm() {
    for length in [
        Duration::MAX,
        Duration::from_secs(1 << 40),
        Duration::from_secs(1 << 33),
    ] {
        let (tx, rx) = channel::bounded(1);
        let thread = std::thread::spawn(move || {
            tx.send(pirn::current()).unwrap();
            park_timeout(length);
        });
        rx.recv().unwrap().unpark();
        thread.join().unwrap();
    }
}

/// Sleepers of one worker wake in the order of their deadlines. Where fibers may migrate, they need
/// not: the monitor and the worker may fire timers at the same time.
#[test]
#[cfg(not(pirn_free))]
fn sleepers_wake_in_order() {
    alone(|| {
        // Late enough for all of them to sleep before the first deadline, on a busy machine too.
        let start = now() + Duration::from_millis(300);
        let woken = Arc::new(AtomicUsize::new(0));
        let naps: Vec<_> = (0..20)
            .map(|i| {
                let place = (i * 7) % 20;
                let woken = Arc::clone(&woken);
                pirn::spawn(move || {
                    sleep_until(start + place as u32 * Duration::from_millis(2)).unwrap();
                    assert_eq!(woken.fetch_add(1, Ordering::SeqCst), place);
                })
            })
            .collect();
        naps.into_iter().for_each(|nap| nap.join().unwrap());
    });
}

/// Many timers at once: all fire, none early.
#[test]
fn many_timers_fire() {
    let n = scaled(10_000);
    on_every_shape(|runtime| {
        let early = Arc::new(AtomicUsize::new(0));
        let all: Vec<_> = (0..n)
            .map(|i| {
                let early = Arc::clone(&early);
                runtime.spawn(move || {
                    let at = now() + Duration::from_micros((i as u64 * 7_919) % 30_000);
                    sleep_until(at).unwrap();
                    early.fetch_add(usize::from(now() < at), Ordering::Relaxed);
                })
            })
            .collect();
        all.into_iter().for_each(|fiber| fiber.join().unwrap());
        assert_eq!(early.load(Ordering::Relaxed), 0);
    });
}

/// A limit and a wake coincide: the wait ends once, with either winner, and the loser does not end
/// the next wait of the same fiber.
// Proves: G2.
#[test]
fn limits_and_wakes_cross() {
    let limit = Duration::from_millis(20);
    on_every_shape(|runtime| {
        let (over, quiet) = (AtomicBool::new(false), AtomicBool::new(false));
        let left = runtime.scope(|s| {
            let fiber = s.spawn(|| {
                for i in 0..scaled(2_000) {
                    park_timeout(Duration::from_micros(i as u64 % 120));
                }
                over.store(true, Ordering::SeqCst);
                while !quiet.load(Ordering::SeqCst) {
                    pirn::yield_now();
                }
                // A timer must leave no token, only an unpark: two parks consume it.
                let start = now();
                park_timeout(limit);
                park_timeout(limit);
                now() - start
            });
            while !over.load(Ordering::SeqCst) && !fiber.is_finished() {
                fiber.fiber().unpark();
                (0..200).for_each(|_| std::hint::spin_loop());
            }
            quiet.store(true, Ordering::SeqCst);
            fiber.join().unwrap()
        });
        assert!(left >= limit, "a timer has left a token: {left:?}");
    });
}

/// A fiber with timers that are cancelled before they fire leaves nothing behind.
#[test]
fn timers_taken_back_leave_nothing() {
    alone(|| {
        let (tx, rx) = channel::bounded::<usize>(0);
        let n = scaled(10_000);
        let receiver = pirn::spawn(move || {
            (0..n).for_each(|i| assert_eq!(rx.recv_timeout(LONG), Ok(i)));
        });
        (0..n).for_each(|i| tx.send(i).unwrap());
        receiver.join().unwrap();
    });
}

/// When its timer fires, a fiber runs within 10 ms, though a backlog of a hundred thousand is
/// queued.
// Proves: B18, N3.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_timer_is_not_held_up_by_a_backlog() {
    let runtime = runtime(1);
    let stop = Arc::new(AtomicBool::new(false));
    let late = runtime.run(|| {
        let backlog: Vec<_> = (0..scaled(100_000))
            .map(|_| {
                let stop = Arc::clone(&stop);
                pirn::spawn(move || {
                    let until = now() + Duration::from_micros(2);
                    while now() < until && !stop.load(Ordering::Relaxed) {}
                })
            })
            .collect();
        let at = now() + Duration::from_millis(5);
        sleep_until(at).unwrap();
        let late = now() - at;
        stop.store(true, Ordering::Relaxed);
        backlog.into_iter().for_each(|fiber| fiber.join().unwrap());
        late
    });
    within("a timer is late", late, Duration::from_millis(10));
}

/// A fiber that loops on operations that are always ready does not keep timers on its
/// worker from firing: counted in its own operations, so that it holds however slow the
/// machine is.
// Proves: D-1, N3.
#[test]
fn ready_operations_do_not_delay_timers() {
    // A worker checks its timers every 61 dispatches; each is a budget of 128 operations.
    const MOST: usize = 2 * 61 * 128;
    let runtime = runtime(1);
    let alarm = Mutex::new(None);
    let (stop, overdue) = (AtomicBool::new(false), AtomicUsize::new(0));
    runtime.scope(|s| {
        s.spawn(|| {
            let (tx, rx) = channel::bounded(4);
            // Gives up in the end, so that a timer that never fires is a failure, no hang.
            while !stop.load(Ordering::Relaxed)
                && overdue.load(Ordering::Relaxed) < 9 * MOST
            {
                tx.send(1).unwrap();
                rx.recv().unwrap();
                if alarm.lock().unwrap().is_some_and(|at| now() >= at) {
                    overdue.fetch_add(2, Ordering::Relaxed);
                }
            }
        });
        let sleeper = s.spawn(|| {
            let overdue = (0..50).map(|_| {
                let at = now() + Duration::from_millis(2);
                overdue.store(0, Ordering::Relaxed);
                *alarm.lock().unwrap() = Some(at);
                sleep_until(at).unwrap();
                *alarm.lock().unwrap() = None;
                overdue.load(Ordering::Relaxed)
            });
            overdue.collect::<Vec<_>>()
        });
        let overdue = sleeper.join().unwrap();
        stop.store(true, Ordering::Relaxed);
        let most = *overdue.iter().max().unwrap();
        assert!(
            most <= MOST,
            "a timer waited for {most} operations: {overdue:?}"
        );
    });
}

/// A computing fiber delays the timers of its own worker only.
// Proves: N2.
#[test]
fn a_computing_fiber_delays_its_own_worker_only() {
    let runtime = runtime(2);
    let slept = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&slept);
    let (busy, is_busy) = channel::bounded(1);
    let computing = runtime.spawn(move || {
        busy.send(()).unwrap();
        compute_until("another worker's timer fires", || {
            flag.load(Ordering::SeqCst)
        });
    });
    // A sleeper spawned first would sleep on either worker, perhaps on this one.
    is_busy.recv().unwrap();
    let sleeping = runtime.spawn(move || sleep(Duration::from_millis(5)).unwrap());
    sleeping.join().unwrap();
    slept.store(true, Ordering::SeqCst);
    computing.join().unwrap();
}

/// A hundred thousand sleeps of random length on two workers: none early, none forgotten. How
/// late they are depends on the other load of the machine; `sleepers-1m` of the benchmarks measures
/// it. A fifth of that without optimization, where a fiber's life takes five times as long.
// Proves: N1.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_hundred_thousand_sleeps_end_in_time() {
    let n = if cfg!(debug_assertions) {
        20_000
    } else {
        100_000
    };
    let n = scaled(n);
    let slept = runtime(2).run(|| {
        let start = now();
        let sleepers: Vec<_> = (0..n)
            .map(|i| {
                let at = start + Duration::from_micros(i as u64 * 7_919 % 2_000_000);
                pirn::spawn(move || {
                    sleep_until(at).unwrap();
                    now() >= at
                })
            })
            .collect();
        let slept = sleepers.into_iter().map(|sleeper| sleeper.join().unwrap());
        slept.filter(|in_time| *in_time).count()
    });
    assert_eq!(slept, n);
}

/// Waits with a limit sleep until it expires: they cost next to no processor time, and no thread
/// looks for their ends meanwhile.
// Proves: N8.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_limited_waits_cost_no_processor_time() {
    let builder = Runtime::builder().workers(2).max_threads(2);
    let runtime = builder.name("limits").build().unwrap();
    runtime.run(|| sleep(Duration::from_millis(10)).unwrap());
    let parks = || runtime.metrics().total.fiber_parks;
    let (before, all) = (processor_time(), parks() + 1_000);
    let fibers: Vec<_> = (0..1_000)
        .map(|i| {
            runtime.spawn(move || {
                let (_tx, rx) = channel::bounded::<()>(0);
                // More than it takes to start them all.
                let limit = Duration::from_millis(2_000 + i % 7);
                assert_eq!(
                    rx.recv_timeout(limit),
                    Err(channel::RecvTimeoutError::Timeout)
                );
            })
        })
        .collect();
    eventually("all wait", || parks() >= all);
    // They may still be about to sleep.
    std::thread::sleep(Duration::from_millis(50));
    let slept = sleeps("limits");
    std::thread::sleep(Duration::from_millis(500));
    let slept = sleeps("limits") - slept;
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    let spent = processor_time() - before;
    let bound = SLACK * Duration::from_millis(150);
    assert!(spent < bound, "{spent:?} spent in two seconds of waiting");
    // One that looks each millisecond would go to sleep 500 times.
    assert!(slept < 100, "{slept} sleeps in half a second of waiting");
}

/// Sixty sends and receives with a limit of 10 ms all end after 10 to 15 ms.
// Proves: I19.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_limits_of_channels_are_kept() {
    let limit = Duration::from_millis(10);
    let mut waits: Vec<Duration> = alone(|| {
        let (tx, rx) = channel::bounded::<u8>(0);
        let wait = |round| {
            let start = now();
            if round % 2 == 0 {
                assert!(rx.recv_timeout(limit).is_err());
            } else {
                assert!(tx.send_deadline(1, start + limit).is_err());
            }
            now() - start
        };
        (0..60).map(wait).collect()
    });
    waits.sort_unstable();
    assert!(waits[0] >= limit, "{waits:?}");
    within("a limit", waits[59], Duration::from_millis(15));
}

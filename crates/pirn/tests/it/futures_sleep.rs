//! Sleeps and deadlines as futures.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::future::{Either, join_all, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use pirn::future::{block_on, sleep, sleep_until, wait};
use pirn::{Interrupt, Runtime, channel, time};

use crate::executor_kind::runtime;
use crate::futures_fixture::{Tasks, Wakes, block_on_thread, give_way, poll_once};
use crate::util::{eventually, on_every_shape};

const MS: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// Exactly, with virtual time: in order, at once, one after the other, beside sleeping fibers.
// Proves: N1-X-futures.
#[test]
fn sleeps_of_futures_are_exact_in_virtual_time() {
    let runtime = Runtime::builder().deterministic(7).build().unwrap();
    runtime.run(|| {
        let start = time::now();
        let beside = pirn::spawn(move || {
            time::sleep(HOUR).unwrap();
            time::now() - start
        });
        let ends = wait(join_all((1..=100_u32).rev().map(|i| async move {
            sleep(MS * i).await;
            let first = time::now() - start;
            sleep_until(start + MS * 1_000 * i).await;
            (first, time::now() - start)
        })));
        for (i, ends) in (1..=100_u32).rev().zip(ends.unwrap()) {
            assert_eq!(ends, (MS * i, MS * 1_000 * i));
        }
        assert_eq!(beside.join().unwrap(), HOUR);
        wait(sleep(Duration::ZERO)).unwrap();
        assert_eq!(time::now() - start, HOUR);
        let cut = pirn::timeout(HOUR, || wait(sleep(Duration::MAX)));
        assert!(cut.is_err());
        assert_eq!(time::now() - start, 2 * HOUR);
    });
}

/// Fibers on every shape, and threads, none too early.
// Proves: N1-X-futures.
#[test]
fn sleeps_of_futures_end() {
    let slept = |limit: Duration| async move {
        let before = time::now();
        sleep(limit).await;
        assert!(time::now() - before >= limit);
    };
    on_every_shape(|runtime| {
        runtime.scope(|scope| {
            for i in 0..20 {
                scope.spawn(move || {
                    wait(join_all([slept(MS * i), slept(MS * (20 - i))])).unwrap()
                });
            }
        });
    });
    block_on(slept(MS));
}

/// The next wait polls a collection only where it has been woken; its sleeps end all the same.
// Proves: N1-X-futures.
#[test]
fn a_sleep_outlives_the_wait_that_has_polled_it() {
    runtime(2).run(|| {
        let mut sleeps: FuturesUnordered<_> = (0..10).map(|i| sleep(MS * i)).collect();
        let mut ends = 0;
        while wait(sleeps.next()).unwrap().is_some() {
            ends += 1;
        }
        assert_eq!(ends, 10);
        // Polled by a fiber, and then by a thread and a foreign executor.
        let mut sleeps: FuturesUnordered<_> = (0..10).map(|i| sleep(MS * i)).collect();
        let first =
            poll_fn(|context| Poll::Ready(sleeps.poll_next_unpin(context).is_ready()));
        wait(first).unwrap();
        let rest = pirn::blocking(|| block_on_thread(sleeps.count()));
        assert!((9..=10).contains(&rest), "{rest}");
    });
}

/// A dropped sleep leaves no timer behind; a reset one waits for the new moment.
// Proves: N1-X-futures.
#[test]
fn sleeps_are_dropped_and_reset() {
    let runtime = Runtime::builder().deterministic(7).build().unwrap();
    runtime.run(|| {
        let start = time::now();
        for _ in 0..1_000 {
            let limit = pin!(sleep(HOUR));
            match wait(select(limit, pin!(give_way(3)))).unwrap() {
                Either::Left(_) => panic!("an hour has not passed"),
                Either::Right(_) => {}
            }
        }
        assert_eq!(time::now(), start);
        wait(async {
            let gone = Arc::new(Wakes::default());
            let mut dropped = Box::pin(sleep(HOUR));
            assert!(poll_once(dropped.as_mut(), &gone).is_pending());
            drop(dropped);
            assert_eq!(Arc::strong_count(&gone), 1, "a dropped sleep is noted");
            let mut sleep = sleep(HOUR);
            let wakes = Arc::new(Wakes::default());
            assert!(poll_once(pin!(&mut sleep), &wakes).is_pending());
            assert_eq!(Arc::strong_count(&wakes), 2, "one here, one noted");
            sleep.reset(start + 2 * HOUR);
            assert_eq!(Arc::strong_count(&wakes), 2, "the wake before stays");
            (&mut sleep).await;
            assert_eq!(time::now(), start + 2 * HOUR);
            sleep.reset(start + 3 * HOUR);
            sleep.await;
            assert_eq!(time::now(), start + 3 * HOUR);
        })
        .unwrap();
    });
}

/// A future that is always ready lets its sleeps end, and other fibers run.
// Proves: N1-X-futures.
#[test]
fn a_restless_future_sees_its_sleeps_end() {
    runtime(1).run(|| {
        let limit = pin!(sleep(MS * 5));
        let restless = pin!(poll_fn(|context| {
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        }));
        // Not polled again before its waker is called.
        let mut both = FuturesUnordered::new();
        both.push(Either::Left(limit));
        both.push(Either::Right(restless));
        assert_eq!(wait(both.next()).unwrap(), Some(()));
    });
}

/// Sleeps end inside a foreign executor that runs inside a poll of ours: on a thread, where that
/// only takes time.
// Proves: N1-X-futures.
#[test]
fn a_nested_executor_sleeps() {
    block_on(async { block_on_thread(sleep(MS)) });
    block_on(async { block_on(sleep(MS)) });
}

/// A sleep that has always ended yields like any other future.
// Proves: N1-X-futures.
#[test]
fn sleeps_that_are_over_give_way() {
    runtime(1).run(|| {
        let ran = Arc::new(AtomicBool::new(false));
        let other = pirn::spawn({
            let ran = Arc::clone(&ran);
            move || ran.store(true, Ordering::SeqCst)
        });
        wait(async {
            while !ran.load(Ordering::SeqCst) {
                sleep(Duration::ZERO).await;
            }
        })
        .unwrap();
        other.join().unwrap();
    });
}

/// Foreign executors let a fiber sleep; an interrupt of the waiting fiber ends the wait.
// Proves: N1-X-futures.
#[test]
fn other_executors_sleep() {
    block_on_thread(sleep(MS));
    let tasks = Arc::new(Tasks::default());
    for i in 0..20 {
        tasks.spawn(sleep(MS * i));
    }
    tasks.run();
    runtime(1).run(|| {
        let sleeping = Arc::new(AtomicBool::new(false));
        let sleeper = pirn::spawn({
            let sleeping = Arc::clone(&sleeping);
            move || {
                sleeping.store(true, Ordering::SeqCst);
                wait(sleep(HOUR))
            }
        });
        while !sleeping.load(Ordering::SeqCst) {
            pirn::yield_now();
        }
        sleeper.cancel();
        assert_eq!(sleeper.join().unwrap(), Err(Interrupt::Cancelled));
        assert!(pirn::timeout(MS, || wait(pending::<()>())).is_err());
    });
    // A sleep without a waiter ends with its future.
    let wakes = Arc::new(Wakes::default());
    let mut sleep = Box::pin(sleep(HOUR));
    assert!(poll_once(sleep.as_mut(), &wakes).is_pending());
    drop(sleep);
    eventually("its fiber has ended", || Arc::strong_count(&wakes) == 1);
}

/// On a plain thread that has entered a runtime with virtual time, a sleep ends with that of the
/// fiber that sleeps for it, though the thread's clock is behind.
#[test]
fn a_sleep_ends_by_the_clock_of_the_runtime_that_was_entered() {
    let runtime = Runtime::builder().deterministic(1).build().unwrap();
    runtime.enter(|| block_on_thread(sleep(HOUR)));
}

/// A reset to an earlier time wakes the task that has polled the sleep last: on a fiber, on a thread,
/// and if the time was never to come. One to a later time does not: the task is woken at the time
/// before, and then at the new one.
// Proves: N1-X-futures.
#[test]
fn a_reset_wakes_the_task() {
    let woken = |first: Duration| {
        let mut sleep = sleep(first);
        let [before, last] = [(); 2].map(|()| Arc::new(Wakes::default()));
        for wakes in [&before, &last] {
            assert!(poll_once(pin!(&mut sleep), wakes).is_pending());
        }
        sleep.reset(time::now() + HOUR / 2);
        // The fiber that sleeps for a thread may wake the task too, as it ends.
        let woken = last.count();
        assert!(woken > 0 && before.count() == 0);
        assert!(poll_once(pin!(&mut sleep), &last).is_pending());
        sleep.reset(time::now() + HOUR);
        assert!(poll_once(pin!(&mut sleep), &last).is_pending());
        assert_eq!(last.count(), woken);
    };
    let postponed = || {
        let mut sleep = Box::pin(sleep(MS));
        let mut end = None;
        block_on(poll_fn(|context| {
            if end.is_some() {
                return sleep.as_mut().poll(context);
            }
            // A millisecond may have passed before.
            while sleep.as_mut().poll(context).is_ready() {
                sleep.reset(time::now() + MS);
            }
            end = Some(time::now() + 20 * MS);
            sleep.reset(time::now() + 20 * MS);
            Poll::Pending
        }));
        assert!(Some(time::now()) >= end);
    };
    postponed();
    runtime(1).run(postponed);
    for first in [HOUR, Duration::MAX] {
        woken(first);
        runtime(1).run(|| {
            woken(first);
            wait(async { woken(first) }).unwrap();
        });
    }
}

/// A plain thread that has entered a runtime sleeps by the clock of that runtime, also in a channel
/// of moments.
// Proves: N1-X-futures.
#[test]
fn moments_come_by_the_clock_of_the_entered_runtime() {
    let runtime = Runtime::builder().deterministic(7).build().unwrap();
    let start = Instant::now();
    runtime.enter(|| {
        let moment = channel::after(HOUR);
        assert!(block_on(moment.recv_async()).unwrap() >= start + HOUR);
        let moments = channel::tick(HOUR);
        let first = block_on(moments.recv_async()).unwrap();
        assert!(block_on(moments.recv_async()).unwrap() >= first + HOUR);
    });
    assert!(start.elapsed() < HOUR);
}

/// A task that comes late to a moment misses those in between, as a fiber does.
// Proves: N1-X-futures.
#[test]
fn a_late_task_misses_moments() {
    let runtime = Runtime::builder().deterministic(7).build().unwrap();
    runtime.run(|| {
        let start = time::now();
        let moments = channel::tick(100 * MS);
        let mut first = Box::pin(moments.recv_async());
        let wakes = Arc::new(Wakes::default());
        assert!(poll_once(first.as_mut(), &wakes).is_pending());
        time::sleep(250 * MS).unwrap();
        let came = poll_once(first.as_mut(), &wakes);
        assert_eq!(came, Poll::Ready(Ok(start + 100 * MS)));
        let next = wait(moments.recv_async()).unwrap();
        assert_eq!(next, Ok(start + 350 * MS));
    });
}

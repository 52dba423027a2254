//! Sources that the system tells of: what comes against who waits, gives up, or goes.
//!
//! The common poller has a thread that outlives a model's run, so what fibers of several workers
//! wait for at once is left to `socket_waits` in `tests/it`.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use pirn::dev::Wire;
use pirn::future::{sleep, wait};
use pirn::spawn;

use crate::rig::{explore, explore_in_time, explore_with, thread};

/// Whatever is put in is taken out, by one fiber.
#[test]
fn what_comes_is_taken() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let (wire, far) = Wire::new();
        let putter = thread(move || (0..3).for_each(|_| far.put()));
        runtime.run(move || (0..3).for_each(|_| wire.take(None).expect("a thing")));
        putter.join().expect("it ends");
    });
}

/// A limit that ends while something comes: it is taken once, then or later.
#[test]
fn limits_against_what_comes() {
    explore_in_time(|world| {
        let runtime = world.runtime();
        let (wire, far) = Wire::new();
        let putter = thread(move || (0..2).for_each(|_| far.put()));
        runtime.run(move || {
            let mut taken = 0;
            while taken < 2 {
                match wire.take(Some(Duration::from_millis(1))) {
                    Ok(()) => taken += 1,
                    Err(error) => assert_eq!(error.kind(), ErrorKind::TimedOut),
                }
            }
        });
        putter.join().expect("it ends");
    });
}

/// One wire goes and the next one takes its place, while something still comes for the first.
#[test]
fn the_next_wire_has_nothing_of_the_last() {
    explore(|world| {
        let runtime = world.runtime();
        let (first, far) = Wire::new();
        let putter = thread(move || (0..2).for_each(|_| far.put()));
        runtime.run(move || {
            first.take(None).expect("a thing");
            drop(first);
            let (second, far) = Wire::new();
            let taker = spawn(move || second.take(None).expect("a thing"));
            far.put();
            taker.join().expect("it ends");
        });
        putter.join().expect("it ends");
    });
}

/// Fibers that come from outside while a worker sleeps in its poller, which others ask too.
#[test]
fn whoever_sleeps_over_a_wire_is_woken() {
    explore(|world| {
        let runtime = world.runtime();
        let (wire, far) = Wire::new();
        let reader = runtime.spawn(move || wire.take(None).expect("a thing"));
        let done = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let done = Arc::clone(&done);
            runtime
                .spawn(move || done.fetch_add(1, Ordering::SeqCst))
                .join()
                .expect("it ends");
        }
        far.put();
        reader.join().expect("it ends");
        assert_eq!(done.load(Ordering::SeqCst), 3);
    });
}

/// Whatever is put in is taken out, by a future; and by fibers beside it.
#[test]
fn what_comes_is_polled() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let (wire, far) = Wire::new();
        let putter = thread(move || (0..3).for_each(|_| far.put()));
        runtime.run(move || {
            let take = || poll_fn(|context| wire.poll_take(context));
            wait(take()).expect("no interrupt").expect("a thing");
            wire.take(None).expect("a thing");
            wait(take()).expect("no interrupt").expect("a thing");
        });
        putter.join().expect("it ends");
    });
}

/// A sleep and what comes wake the same task; the sleep that is left over wakes it too.
#[test]
fn sleeps_against_what_comes() {
    explore_in_time(|world| {
        let runtime = world.runtime();
        let (wire, far) = Wire::new();
        let putter = thread(move || far.put());
        runtime.run(move || {
            let mut limit = sleep(Duration::from_millis(1));
            let (mut taken, mut slept) = (false, false);
            while !(taken && slept) {
                let either = poll_fn(|context| {
                    if !taken && wire.poll_take(context).is_ready() {
                        taken = true;
                        return Poll::Ready(());
                    }
                    if !slept && Pin::new(&mut limit).poll(context).is_ready() {
                        slept = true;
                        return Poll::Ready(());
                    }
                    Poll::Pending
                });
                wait(either).expect("no interrupt");
            }
        });
        putter.join().expect("it ends");
    });
}

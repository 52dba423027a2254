//! Sources with readiness reported by the system: events against waits, timeouts and drops.
//!
//! The common poller has a thread that would outlive a model's run, so a thread of the model polls
//! in its place: [`Asker`].

use std::future::poll_fn;
use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use pirn::dev::{FarEnd, Wire, ask_common, ring_common};
use pirn::future::{sleep, wait};
use pirn::{JoinHandle, spawn};
use shuttle::sync::atomic::AtomicBool;
use shuttle::thread::JoinHandle as Thread;

use crate::util::{explore, explore_in_time, explore_in_time_with, explore_with, thread};

/// Each item that is put in is taken out, by one fiber.
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

/// A limit expires while an item arrives: it is taken once, then or later.
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

/// One wire is dropped and the next one takes its place, while an event of the first is pending.
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

/// Fibers are spawned from outside while a worker sleeps in its poller, which other threads poll
/// too.
#[test]
fn a_sleeper_at_a_socket_is_woken() {
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

/// Each item that is put in is taken out, by a future and by fibers beside it.
// Proves: N5-X-polled.
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

/// A timer and an event wake the same task; the timer that remains wakes it too.
// Proves: N1-X-futures.
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

/// Several fibers of one or more workers wait for the same wire: each event is reported to every
/// fiber that waits, or is about to.
#[test]
fn several_wait_for_one_wire() {
    explore_with(&[1, 2], |world| {
        let asker = Asker::new();
        let runtime = world.runtime();
        let (wire, far) = Wire::new();
        let wire = Arc::new(wire);
        let takers: Vec<_> = (0..2)
            .map(|_| {
                let wire = Arc::clone(&wire);
                runtime.spawn(move || wire.take(None).expect("a thing"))
            })
            .collect();
        let putter = thread(move || (0..2).for_each(|_| far.put()));
        takers
            .into_iter()
            .for_each(|taker| taker.join().expect("it ends"));
        putter.join().expect("it ends");
        drop(runtime);
        asker.end();
    });
}

/// Like [`several_wait_for_one_wire`], while another thread fetches the events of the worker: an
/// event may occur at any moment of an attempt and of a wait.
#[test]
fn events_that_another_thread_fetches() {
    explore_with(&[1], |world| {
        let asker = Asker::new();
        let runtime = world.runtime();
        let (wire, far) = Wire::new();
        let wire = Arc::new(wire);
        let own = Arc::clone(&wire);
        let taker = runtime.spawn(move || {
            (0..2).for_each(|_| own.take(None).expect("a thing"));
        });
        let rescuer = thread(move || {
            for _ in 0..2 {
                far.put();
                wire.ask_in_place();
            }
        });
        taker.join().expect("it ends");
        rescuer.join().expect("it ends");
        drop(runtime);
        asker.end();
    });
}

/// Another thread polls in place of a sleeping worker: the wake for a fiber from outside still
/// reaches that worker.
#[test]
fn a_poll_for_a_worker_leaves_it_its_wake() {
    explore_with(&[1], |world| {
        let asker = Asker::new();
        let runtime = world.runtime();
        let (wire, far) = Wire::new();
        let wire = Arc::new(wire);
        let own = Arc::clone(&wire);
        let reader = runtime.spawn(move || own.take(None).expect("a thing"));
        let rescuer = thread(move || (0..3).for_each(|_| wire.ask_in_place()));
        for _ in 0..2 {
            runtime.spawn(|| ()).join().expect("it ends");
        }
        far.put();
        reader.join().expect("it ends");
        rescuer.join().expect("it ends");
        drop(runtime);
        asker.end();
    });
}

/// Several wait with limits: each item is taken by one of them, on some attempt.
#[test]
fn limits_of_several_against_what_comes() {
    explore_in_time_with(&[1, 2], |world| {
        let asker = Asker::new();
        let runtime = world.runtime();
        let (wire, far) = Wire::new();
        let (wire, left) = (Arc::new(wire), Arc::new(AtomicUsize::new(2)));
        let takers: Vec<_> = (0..2)
            .map(|_| {
                let (wire, left) = (Arc::clone(&wire), Arc::clone(&left));
                runtime.spawn(move || take_until_none_left(&wire, &left))
            })
            .collect();
        let putter = thread(move || (0..2).for_each(|_| far.put()));
        let taken = takers
            .into_iter()
            .map(|taker| taker.join().expect("it ends"));
        assert_eq!(taken.sum::<usize>(), 2);
        putter.join().expect("it ends");
        drop(runtime);
        asker.end();
    });
}

/// Takes items, each within a limit, until none is `left`; returns how many it got.
fn take_until_none_left(wire: &Wire, left: &AtomicUsize) -> usize {
    let mut taken = 0;
    while left.load(Ordering::SeqCst) > 0 {
        match wire.take(Some(Duration::from_millis(1))) {
            Ok(()) => {
                taken += 1;
                left.fetch_sub(1, Ordering::SeqCst);
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::TimedOut),
        }
    }
    taken
}

/// A wire closes and the next one has its name at once, while its events are still being fetched,
/// and several fibers wait for the new one: they receive only its events.
// Proves: N6.
#[test]
fn a_name_is_used_again() {
    explore_with(&[1, 2], |world| {
        let asker = Asker::new();
        let runtime = world.runtime();
        let (first, far) = Wire::new();
        let putter = thread(move || far.put());
        runtime.run(move || {
            first.take(None).expect("a thing");
            let (second, far) = first.reopen();
            let second = Arc::new(second);
            let takers: [JoinHandle<()>; 2] = [taker(&second), taker(&second)];
            let putters: [Thread<()>; 2] = [putter_of(far), putter_of(far)];
            takers.map(|taker| taker.join().expect("it ends"));
            putters.map(|putter| putter.join().expect("it ends"));
        });
        putter.join().expect("it ends");
        drop(runtime);
        asker.end();
    });
}

fn taker(wire: &Arc<Wire>) -> JoinHandle<()> {
    let wire = Arc::clone(wire);
    spawn(move || wire.take(None).expect("a thing"))
}

fn putter_of(far: FarEnd) -> Thread<()> {
    thread(move || far.put())
}

/// The thread that polls for waiters without a worker, for the duration of a model's run.
struct Asker {
    over: Arc<AtomicBool>,
    thread: Thread<()>,
}

impl Asker {
    fn new() -> Asker {
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        let asks = move || {
            while !told.load(Ordering::SeqCst) {
                ask_common();
            }
        };
        Asker {
            over,
            thread: thread(asks),
        }
    }

    fn end(self) {
        self.over.store(true, Ordering::SeqCst);
        ring_common();
        self.thread.join().expect("it ends");
    }
}

//! Fibers that never have to wait: they let others run, and see a shutdown of their runtime.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::cancel::{self, Token, shield};
use pirn::future::block_on;
use pirn::spawn::checkpoint;
use pirn::sync::{Condvar, Mutex};
use pirn::time::now;
use pirn::wait::{Ticket, Waitable};
use pirn::{Interrupt, channel, park};

use crate::executor_kind::runtime;
use crate::util::{LONG, SCHEDULERS, compute_until, eventually, shaped};

/// A fiber that need not wait lets all others run: it parks with its token, waits for a condition
/// although it is interrupted, or tries again what a primitive of its own cannot do yet.
// Proves: A3.
#[test]
fn a_loop_of_waits_that_end_at_once_lets_all_others_run() {
    /// Does not take a ticket while its flag is not set.
    struct Unready(Arc<AtomicBool>);
    impl Waitable for Unready {
        type Output = ();

        fn try_complete(&self) -> Option<()> {
            self.0.load(Ordering::SeqCst).then_some(())
        }

        fn register(&self, _: Ticket) -> bool {
            false
        }

        fn unregister(&self, _: Ticket) {}
    }

    fn parks(flag: Arc<AtomicBool>) {
        while !flag.load(Ordering::SeqCst) {
            pirn::current().unpark();
            park();
        }
    }
    fn waits_for_a_condition(flag: Arc<AtomicBool>) {
        let (mutex, changed) = (Mutex::new(()), Condvar::new());
        let token = Token::new();
        token.cancel();
        token.enter(|| {
            while !flag.load(Ordering::SeqCst) {
                drop(changed.wait_interruptible(mutex.lock()));
            }
        });
    }
    fn sends_nothing(flag: Arc<AtomicBool>) {
        let (tx, _rx) = channel::bounded::<u8>(1);
        while !flag.load(Ordering::SeqCst) {
            tx.send_many(&mut VecDeque::new()).unwrap();
        }
    }
    fn receives_nothing(flag: Arc<AtomicBool>) {
        let (_tx, rx) = channel::bounded::<u8>(1);
        while !flag.load(Ordering::SeqCst) {
            assert_eq!(rx.recv_many(&mut Vec::new(), 0), Ok(0));
        }
    }
    fn ends_scopes(flag: Arc<AtomicBool>) {
        while !flag.load(Ordering::SeqCst) {
            pirn::scope(|_| ());
        }
    }
    fn tries_again(flag: Arc<AtomicBool>) {
        pirn::wait::on(&Unready(flag)).unwrap();
    }
    type Kind = fn(Arc<AtomicBool>);
    let kinds: [Kind; 6] = [
        parks,
        waits_for_a_condition,
        sends_nothing,
        receives_nothing,
        ends_scopes,
        tries_again,
    ];
    for (n, each) in kinds.into_iter().enumerate() {
        for scheduler in SCHEDULERS {
            let runtime = shaped(1, scheduler);
            let flag = Arc::new(AtomicBool::new(false));
            let (waited, set) = (Arc::clone(&flag), Arc::clone(&flag));
            let loops = runtime.spawn(move || each(waited));
            let other = runtime.spawn(move || set.store(true, Ordering::SeqCst));
            let ran = other.join_timeout(Duration::from_secs(10)).is_ok();
            flag.store(true, Ordering::SeqCst);
            loops.join().unwrap();
            assert!(ran, "{scheduler:?}, kind {n}");
        }
    }
}

/// A fiber that only computes and asks whether it is interrupted never lets its worker act: it sees
/// the shutdown all the same, on every worker, also below a deadline and in a child.
// Proves: K7.
#[test]
fn a_fiber_that_only_asks_ends() {
    type Loop = fn();
    let loops: [(&str, Loop); 8] = [
        ("check", || while cancel::check().is_ok() {}),
        ("reason", || while cancel::reason().is_none() {}),
        ("under a deadline", || {
            let _ = pirn::timeout(LONG * 2, || while cancel::check().is_ok() {});
        }),
        ("after a scope", || {
            while cancel::check().is_ok() {
                pirn::scope(|s| drop(s.spawn(|| ())));
            }
        }),
        ("checkpoint in a poll", || {
            block_on(async { while checkpoint().is_ok() {} });
        }),
        ("sends of nothing", || {
            let (tx, _rx) = channel::bounded::<u8>(1);
            while tx.send_many(&mut VecDeque::new()).is_ok() {}
        }),
        ("channel in a poll", || {
            let (tx, rx) = channel::bounded(1);
            block_on(async { while tx.send(1).is_ok() && rx.recv().is_ok() {} });
        }),
        ("child", || {
            let _ = pirn::spawn(|| while cancel::check().is_ok() {}).wait();
        }),
    ];
    for (name, each) in loops {
        for workers in [1, 2] {
            let (runtime, runs) = (runtime(workers), Arc::new(AtomicBool::new(false)));
            let begun = Arc::clone(&runs);
            runtime.spawn(move || {
                begun.store(true, Ordering::SeqCst);
                each();
            });
            eventually("it runs", || runs.load(Ordering::SeqCst));
            let ended = runtime.shutdown(LONG / 4);
            ended.unwrap_or_else(|left| panic!("{name}, {workers} workers: {left}"));
        }
    }
}

/// A fiber that computes for long between two checkpoints ends at the next one: its worker, which
/// has no other fiber, looks up once in 61 turns.
// Proves: K7.
#[test]
fn the_next_checkpoint_ends() {
    let (runtime, steps) = (runtime(1), Arc::new(AtomicUsize::new(0)));
    let all = Arc::clone(&steps);
    let fiber = runtime.spawn(move || {
        let token = Token::current();
        let mut late = 0;
        loop {
            // The runtime's: cancelled after its state has changed.
            let is_over = token.is_cancelled();
            if checkpoint().is_err() {
                return late;
            }
            late += usize::from(is_over);
            all.fetch_add(1, Ordering::SeqCst);
            let until = now() + Duration::from_millis(10);
            compute_until("it has taken 10 ms", || now() >= until);
        }
    });
    // By then it yields at each of them.
    eventually("it is known to compute", || {
        steps.load(Ordering::SeqCst) > 30
    });
    runtime.shutdown(LONG).unwrap();
    assert_eq!(fiber.join().unwrap(), 0, "checkpoints passed");
}

/// What a shield covers is not interrupted by a shutdown; what comes after it is.
// Proves: K8.
#[test]
fn a_fiber_that_only_asks_in_a_shield_goes_on() {
    let runtime = runtime(1);
    let (inside, go_on) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let (begun, gate) = (Arc::clone(&inside), Arc::clone(&go_on));
    let fiber = runtime.spawn(move || {
        let within = shield(|| {
            begun.store(true, Ordering::SeqCst);
            compute_until("the gate opens", || {
                assert_eq!(cancel::reason(), None);
                gate.load(Ordering::SeqCst)
            });
            cancel::check()
        });
        (within, cancel::reason(), cancel::check())
    });
    eventually("it runs", || inside.load(Ordering::SeqCst));
    assert!(runtime.shutdown(Duration::from_millis(20)).is_err());
    go_on.store(true, Ordering::SeqCst);
    let cancelled = Interrupt::Cancelled;
    assert_eq!(
        fiber.join().unwrap(),
        (Ok(()), Some(cancelled), Err(cancelled))
    );
}

//! Fibers with drawn lives: each result has one end, in handles, groups and scopes.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use fastrand::Rng;
use pirn::channel;
use pirn::scope::TaskGroup;
use pirn::spawn::{JoinError, JoinHandle};
use pirn::sync::Event;
use pirn::{Interrupt, scope, time};

use crate::drawn::{length, rng};
use crate::{MOMENT, check};

/// The result of a drawn life: dropped once.
type Kept = Arc<()>;

/// Lives: returns `kept` after a few waits, or panics.
fn live(rng: &mut Rng, kept: Kept, panics: bool) -> Kept {
    for _ in 0..rng.u32(..3) {
        match rng.u32(..3) {
            0 => _ = time::sleep(length(rng)),
            1 => pirn::yield_now(),
            _ => {
                let inner = Arc::clone(&kept);
                drop(pirn::spawn(move || inner));
            }
        }
    }
    if panics {
        resume_unwind(Box::new(kept));
    }
    kept
}

/// Ends the use of a handle in a drawn way; a panic is joined.
fn end(rng: &mut Rng, handle: JoinHandle<Kept>, panics: bool) {
    let mut handle = handle;
    for _ in 0..rng.u32(..4) {
        match rng.u32(..6) {
            0 => handle.cancel(),
            1 => _ = handle.is_finished(),
            2 => {
                pirn::select! {
                    join(handle) => assert!(handle.is_finished()),
                    after(length(rng)) => {}
                    cancelled(interrupt) => unreachable!("{interrupt}"),
                }
            }
            3 => match handle.join_timeout(length(rng)) {
                Ok(ended) => return check_end(ended, panics),
                Err(back) => handle = back,
            },
            4 => {
                let mut context = Context::from_waker(Waker::noop());
                if let Poll::Ready(ended) = Pin::new(&mut handle).poll(&mut context) {
                    return check_end(ended, panics);
                }
            }
            _ => {
                handle.wait().unwrap();
                assert!(handle.is_finished());
            }
        }
    }
    match panics || rng.bool() {
        true => check_end(handle.join(), panics),
        false => handle.detach(),
    }
}

fn check_end(ended: Result<Kept, JoinError>, panics: bool) {
    match ended {
        Ok(_) => assert!(!panics),
        Err(JoinError::NotRun) => {}
        Err(error) => {
            let payload = error.try_into_panic();
            assert!(panics && payload.is_ok_and(|it| it.is::<Kept>()));
        }
    }
}

// Proves: U30-drawn.
#[test]
fn drawn_handles_leave_no_result_behind() {
    check(|| {
        let mut rng = rng();
        let kept = Kept::default();
        scope(|s| {
            for _ in 0..3 {
                let (mut own, mut other) = (rng.fork(), rng.fork());
                let (kept, panics) = (Arc::clone(&kept), rng.u32(..4) == 0);
                let handle = pirn::spawn(move || live(&mut own, kept, panics));
                s.spawn(move || end(&mut other, handle, panics));
            }
        });
        // Until detached fibers have ended.
        time::sleep(5 * MOMENT).unwrap();
        assert_eq!(Arc::strong_count(&kept), 1);
    });
}

// Proves: U30-drawn.
#[test]
fn drawn_groups_leave_no_result_behind() {
    check(|| {
        let mut rng = rng();
        let kept = Kept::default();
        let group = match rng.bool() {
            true => TaskGroup::new(),
            false => TaskGroup::new().limit(rng.usize(1..3)),
        };
        let group = Arc::new(group);
        let counts: [usize; 3] = scope(|s| {
            let spawner = {
                let (group, kept, mut rng) =
                    (Arc::clone(&group), Arc::clone(&kept), rng.fork());
                s.spawn(move || {
                    let mut spawned = 0;
                    for _ in 0..4 {
                        let (mut own, kept) = (rng.fork(), Arc::clone(&kept));
                        spawned += usize::from(
                            group.spawn(move || live(&mut own, kept, false)).is_ok(),
                        );
                    }
                    spawned
                })
            };
            let taker = {
                let group = Arc::clone(&group);
                s.spawn(move || {
                    let mut taken = 0;
                    while let Ok(Some(result)) = group.join_next() {
                        check_end(result, false);
                        taken += 1;
                    }
                    taken
                })
            };
            let _ = time::sleep(length(&mut rng));
            if rng.bool() {
                group.cancel();
            }
            let spawned = spawner.join().unwrap();
            let taken = taker.join().unwrap();
            group.wait().unwrap();
            assert!(group.is_empty());
            let mut rest = 0;
            while let Ok(Some(result)) = group.join_next() {
                check_end(result, false);
                rest += 1;
            }
            [spawned, taken, rest]
        });
        assert_eq!(counts[0], counts[1] + counts[2]);
        drop(group);
        time::sleep(5 * MOMENT).unwrap();
        assert_eq!(Arc::strong_count(&kept), 1);
    });
}

/// A tree of scopes in which children wait, panic and cancel: each ends after all that is in it.
fn tree(rng: &mut Rng, alive: &Arc<()>, depth: u32) {
    let (never, panicked) = (Event::manual(), AtomicBool::new(false));
    let inside = Arc::new(());
    let ended = catch_unwind(AssertUnwindSafe(|| {
        scope(|s| {
            for _ in 0..rng.u32(1..3) {
                let (mut own, alive, inside) =
                    (rng.fork(), Arc::clone(alive), Arc::clone(&inside));
                let (never, panicked) = (&never, &panicked);
                let child = s.spawn(move || {
                    let _alive = (alive.clone(), inside);
                    match own.u32(..5) {
                        // Of two panics in a scope one would be lost.
                        0 if !panicked.swap(true, Ordering::Relaxed) => {
                            resume_unwind(Box::new(depth))
                        }
                        1 => s.cancel(),
                        2 if depth > 0 => tree(&mut own, &alive, depth - 1),
                        3 => _ = time::sleep(length(&mut own)),
                        _ => {
                            let waited = pirn::timeout(MOMENT, || never.wait());
                            let cancelled = waited == Ok(Err(Interrupt::Cancelled));
                            assert!(cancelled || waited.is_err());
                        }
                    }
                });
                if rng.u32(..4) == 0 {
                    let (tx, rx) = channel::bounded(0);
                    let waits = s.spawn(move || tx.send(child.join().is_ok()));
                    let _ = rx.recv();
                    let _ = waits.wait();
                }
            }
        });
    }));
    assert_eq!(Arc::strong_count(&inside), 1, "a child outlives its scope");
    if let Err(panic) = ended {
        assert!(panic.is::<u32>());
    }
}

// Proves: U30-drawn.
#[test]
fn drawn_scopes_outlive_their_children() {
    check(|| {
        let mut rng = rng();
        let alive = Arc::new(());
        tree(&mut rng, &alive, 2);
        assert_eq!(Arc::strong_count(&alive), 1);
    });
}

//! Scopes and dispatchers in polls, and the calls at the end of a scope.

use std::future::poll_fn;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use pirn::channel::{Receiver, bounded};
use pirn::dispatcher::Dispatcher;
use pirn::future::block_on;
use pirn::spawn::park_interruptible;
use pirn::{Interrupt, Runtime};

use crate::util::LONG;

/// Its drop waits for a message.
struct Gate(Receiver<()>);

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = self.0.recv();
    }
}

/// While a fiber of the thread unwinds, a poll may begin a scope. The scope still waits
/// for its children when that fiber has ended and waits in polls are refused again.
// Proves: K1.
#[test]
fn a_scope_that_begins_in_a_poll_waits_for_its_children() {
    let runtime = Runtime::builder().deterministic(1).build().unwrap();
    runtime.run(|| {
        let (tx, rx) = bounded::<()>(1);
        let unwinding = pirn::spawn(move || {
            let _gate = Gate(rx);
            panic!("on purpose");
        });
        pirn::yield_now();
        let ended = Arc::new(AtomicBool::new(false));
        let sleeper = Arc::clone(&ended);
        let release = poll_fn(|_| {
            tx.send(()).unwrap();
            pirn::sleep(Duration::from_millis(50)).unwrap();
            Poll::Ready(())
        });
        let mut body = Some(move || {
            pirn::scope(|s| {
                s.spawn(|| {
                    let _ = pirn::sleep(Duration::from_millis(200));
                    sleeper.store(true, Ordering::SeqCst);
                });
                block_on(release);
            });
        });
        let outer = poll_fn(|_| {
            body.take().expect("one poll")();
            Poll::Ready(())
        });
        // A scope that unwinds before its child has ended raises here.
        let scope = catch_unwind(AssertUnwindSafe(|| block_on(outer)));
        assert!(ended.load(Ordering::SeqCst), "the child lives");
        assert!(scope.is_ok());
        assert!(unwinding.join().is_err());
    });
}

/// A `run` that is refused in a poll takes no place under the limit of its dispatcher.
// Proves: L3.
#[test]
fn a_run_that_is_refused_in_a_poll_leaves_the_limit_alone() {
    let limited = Dispatcher::new(1).unwrap().limited(1);
    let own = limited.clone();
    let refused = pirn::run(|| {
        let polls = move || block_on(async move { own.run(|| ()) });
        pirn::spawn(polls).join()
    });
    assert!(refused.is_err());
    let next = limited.spawn(|| 7).join_timeout(LONG);
    assert_eq!(next.expect("it runs").unwrap(), 7);
}

/// Cancelling the caller cancels children that its scope's `on_exit` call has spawned.
// Proves: K1.
#[test]
fn children_of_a_call_on_exit_are_cancelled_with_the_caller() {
    pirn::run(|| {
        let (tx, rx) = bounded(1);
        let caller = pirn::spawn(move || {
            let (tx, interrupted) = (&tx, &AtomicBool::new(false));
            pirn::scope(|s| {
                s.on_exit(move || {
                    s.spawn(move || {
                        tx.send(()).unwrap();
                        interrupted
                            .store(park_interruptible().is_err(), Ordering::SeqCst);
                    });
                });
            });
            interrupted.load(Ordering::SeqCst)
        });
        rx.recv().unwrap();
        caller.cancel();
        let ended = caller.join_timeout(LONG);
        assert!(ended.expect("the child ends").unwrap());
    });
}

/// Its drop panics.
#[derive(Debug)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

impl From<Interrupt> for Bomb {
    fn from(_: Interrupt) -> Bomb {
        Bomb
    }
}

/// A child fails and another one panics: the scope raises that panic, and a panic of the error's
/// destructor does not abort.
// Proves: K1.
#[test]
fn an_error_that_panics_does_not_end_the_process() {
    let scope = AssertUnwindSafe(|| {
        pirn::try_scope(|s| {
            let (tx, rx) = bounded::<()>(0);
            drop(s.spawn(move || -> Result<(), Bomb> {
                tx.send(()).unwrap();
                let _ = park_interruptible();
                panic!("of the child");
            }));
            rx.recv().unwrap();
            drop(s.spawn(|| Err::<(), _>(Bomb)));
            Ok::<_, Bomb>(())
        })
    });
    let panic = catch_unwind(|| scope().map_err(ManuallyDrop::new)).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"of the child"));
}

/// A `spawn` that panics while it clones an inherited fiber-local does not fail its scope.
#[test]
fn a_spawn_that_panics_is_no_failure() {
    struct Fragile;
    impl Clone for Fragile {
        fn clone(&self) -> Fragile {
            panic!("no copies")
        }
    }
    pirn::fiber_local! {
        static FRAGILE: Fragile = Fragile, inherit;
    }
    pirn::run(|| {
        FRAGILE.with(|_| ());
        let result = pirn::try_scope(|s| {
            let raised = catch_unwind(AssertUnwindSafe(|| drop(s.spawn(|| Ok(())))));
            assert!(raised.is_err());
            let raised = catch_unwind(AssertUnwindSafe(|| {
                drop(s.spawn_on(&Dispatcher::io(), || Ok(())));
            }));
            assert!(raised.is_err());
            Ok::<_, Interrupt>(7)
        });
        assert_eq!(result, Ok(7));
    });
}

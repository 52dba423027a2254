//! Panics: a panic ends its fiber and nothing else, and reaches the joiner.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::spawn::JoinError;
use pirn::{JoinHandle, Runtime, channel};

use crate::executor_kind::{runtime, until};
use crate::util::{Drops, LONG, apart, on_every_shape, scaled};

/// A thousand panics, each joined with its own payload; the runtime continues.
// Proves: F19.
#[test]
fn a_panic_reaches_its_joiner_and_no_other() {
    let n = scaled(1_000);
    on_every_shape(|runtime| {
        let fibers: Vec<JoinHandle<usize>> = (0..n)
            .map(|i| {
                runtime.spawn(move || {
                    if i % 2 == 0 {
                        pirn::yield_now();
                    }
                    if i % 4 < 2 { panic_any(i) } else { i }
                })
            })
            .collect();
        for (i, fiber) in fibers.into_iter().enumerate() {
            match fiber.join() {
                Ok(value) => assert!(i % 4 >= 2 && value == i),
                Err(error) => {
                    assert!(error.is_panic());
                    let payload = error.into_panic();
                    assert_eq!(payload.downcast_ref(), Some(&i));
                }
            }
        }
        assert_eq!(runtime.spawn(|| 5).join().unwrap(), 5);
    });
}

/// The error displays the message of the panic.
#[test]
fn the_error_carries_the_message() {
    runtime(1).run(|| {
        let error = pirn::spawn(|| panic!("the {} broke", "mill"))
            .join()
            .unwrap_err();
        assert_eq!(error.to_string(), "the fiber panicked: the mill broke");
        let JoinError::Panicked(payload) = error else {
            unreachable!()
        };
        assert_eq!(payload.message().as_deref(), Some("the mill broke"));
    });
}

/// `resume` continues the fiber's own panic.
#[test]
fn resume_raises_the_payload_again() {
    runtime(1).run(|| {
        let error = pirn::spawn(|| panic_any(17_u8)).join().unwrap_err();
        let raised = catch_unwind(AssertUnwindSafe(|| error.resume())).unwrap_err();
        assert_eq!(raised.downcast_ref(), Some(&17_u8));
    });
}

/// `run` raises the panic of its closure, on a fiber and on a thread.
#[test]
fn run_raises_the_panic_of_its_closure() {
    let runtime = runtime(1);
    let raised = catch_unwind(AssertUnwindSafe(|| runtime.run(|| panic_any(3_i32))));
    assert_eq!(raised.unwrap_err().downcast_ref(), Some(&3_i32));
    runtime.run(|| {
        let raised = catch_unwind(AssertUnwindSafe(|| pirn::run(|| panic_any(4_i32))));
        assert_eq!(raised.unwrap_err().downcast_ref(), Some(&4_i32));
    });
}

/// A panic without a joiner is dropped with its fiber, including the payload.
#[test]
fn a_detached_panic_harms_no_other_fiber() {
    let drops = Drops::default();
    let runtime = runtime(2);
    for _ in 0..100 {
        let payload = drops.one();
        runtime.spawn(move || panic_any(Payload(payload))).detach();
    }
    runtime.wait_idle().unwrap();
    assert_eq!(drops.count(), 100);

    struct Payload(#[expect(dead_code, reason = "is dropped")] crate::util::Counted);
}

/// Destructors run during unwinding, in order, with `panicking` true.
#[test]
fn unwinding_drops_what_the_fiber_holds() {
    struct Noted<'a>(&'a Cell<u32>, u32);
    impl Drop for Noted<'_> {
        fn drop(&mut self) {
            assert!(std::thread::panicking());
            self.0.set(self.0.get() * 10 + self.1);
        }
    }
    runtime(1).run(|| {
        let order = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&order);
        let fiber = pirn::spawn(move || {
            let noted = Cell::new(0);
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let _first = Noted(&noted, 1);
                let _second = Noted(&noted, 2);
                panic!("on purpose");
            }));
            assert!(!std::thread::panicking());
            seen.store(noted.get() as usize, Ordering::SeqCst);
        });
        fiber.join().unwrap();
        assert_eq!(order.load(Ordering::SeqCst), 21);
    });
}

/// A fiber that waits inside a destructor while it unwinds does not appear as panicking to the
/// others on its thread, and still appears so to itself.
#[test]
fn a_wait_while_unwinding_keeps_panics_apart() {
    struct Waits(channel::Receiver<()>);
    impl Drop for Waits {
        fn drop(&mut self) {
            assert!(std::thread::panicking());
            self.0.recv().unwrap();
            assert!(std::thread::panicking(), "still the one that panics");
        }
    }
    for _ in 0..10 {
        let runtime = runtime(1);
        let (tx, rx) = channel::bounded(1);
        let unwinding = runtime.spawn(move || {
            let _waits = Waits(rx);
            panic!("on purpose");
        });
        // From outside: the only worker is blocked in place meanwhile.
        std::thread::spawn(move || tx.send(()).unwrap())
            .join()
            .unwrap();
        assert!(unwinding.join().unwrap_err().is_panic());
        let other = runtime.spawn(std::thread::panicking);
        assert!(!other.join().unwrap());
    }
}

/// The same when only a sibling on the same worker can end the wait: after a while the unwinding
/// fiber yields, and neither is stuck.
#[test]
fn an_unwinding_fiber_does_not_lock_its_siblings_out() {
    struct Waits(channel::Receiver<()>);
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.recv().unwrap();
        }
    }
    runtime(1).run(|| {
        let (tx, rx) = channel::bounded(0);
        let unwinding = pirn::spawn(move || {
            let _waits = Waits(rx);
            panic!("on purpose");
        });
        let sibling = pirn::spawn(move || tx.send(()).unwrap());
        assert!(unwinding.join().unwrap_err().is_panic());
        sibling.join().unwrap();
    });
}

/// A timed wait during unwinding ends at its limit.
#[test]
fn a_timed_wait_while_unwinding_ends() {
    struct Naps(Duration);
    impl Drop for Naps {
        fn drop(&mut self) {
            let start = pirn::time::now();
            pirn::sleep(self.0).unwrap();
            assert!(pirn::time::now() - start >= self.0);
        }
    }
    runtime(1).run(|| {
        for milliseconds in [1, 5, 25] {
            let nap = Duration::from_millis(milliseconds);
            let fiber = pirn::spawn(move || {
                let _naps = Naps(nap);
                panic!("on purpose");
            });
            // A sibling that is ready all the time.
            let done = Arc::new(AtomicUsize::new(0));
            let flag = Arc::clone(&done);
            let busy = pirn::spawn(move || until(&flag, 1));
            assert!(fiber.join().unwrap_err().is_panic());
            done.store(1, Ordering::SeqCst);
            busy.join().unwrap();
        }
    });
}

/// The panic of a destructor of an unclaimed result ends nothing.
// Proves: H-12.
#[test]
fn a_result_that_panics_when_dropped_ends_nothing() {
    struct Explosive;
    impl Drop for Explosive {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }
    let runtime = runtime(1);
    runtime.spawn(|| Explosive).detach();
    runtime.wait_idle().unwrap();
    let held = runtime.spawn(|| Explosive);
    held.wait().unwrap();
    drop(held);
    assert_eq!(runtime.spawn(|| 1).join_timeout(LONG).unwrap().unwrap(), 1);
}

/// A destructor of a capture, or of a fiber-local, that panics ends its fiber and no worker: one
/// thread runs all of these, and what comes after.
// Proves: H-12.
#[test]
fn captures_and_locals_that_panic_when_dropped_end_no_worker() {
    struct Explosive;
    impl Drop for Explosive {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }
    pirn::fiber_local! {
        static LOCAL: Explosive = Explosive;
    }
    let builder = Runtime::builder().workers(1).max_threads(1);
    let runtime = builder.build().unwrap();
    for round in 0..10 {
        let capture = Explosive;
        let fiber = runtime.spawn(move || drop(capture));
        assert!(fiber.join().unwrap_err().is_panic());
        let fiber = runtime.spawn(move || LOCAL.with(|_| round));
        assert_eq!(fiber.join().unwrap(), round);
        let detached = Explosive;
        runtime.spawn(move || drop(detached)).detach();
    }
    runtime.wait_idle().unwrap();
    assert_eq!(runtime.spawn(|| 1).join_timeout(LONG).unwrap().unwrap(), 1);
}

/// A panic caught on a fiber leaves the fiber's state unchanged.
#[test]
fn a_fiber_may_catch_its_own_panics() {
    runtime(1).run(|| {
        let fiber = pirn::spawn(|| {
            let mut caught = 0;
            for _ in 0..100 {
                let raised = catch_unwind(|| {
                    pirn::yield_now();
                    panic!("on purpose");
                });
                caught += usize::from(raised.is_err());
                pirn::yield_now();
            }
            caught
        });
        assert_eq!(fiber.join().unwrap(), 100);
    });
}

/// Sets a panic hook that waits through the library, longer than others wait behind a fiber that
/// stays on its thread.
fn hook_that_waits() {
    std::panic::set_hook(Box::new(|_| {
        let _ = pirn::sleep(Duration::from_millis(50));
    }));
}

/// A panic hook may wait without limit if no other fiber of its thread panics meanwhile: others run
/// on the thread, and see it as panicking.
#[test]
fn a_panic_hook_that_waits() {
    let part = || {
        hook_that_waits();
        runtime(1).run(|| {
            let seen = pirn::spawn(|| {
                let mut seen = 0;
                while seen < 3 {
                    seen += usize::from(std::thread::panicking());
                    pirn::yield_now();
                }
            });
            let panics = pirn::spawn(|| panic!("on purpose"));
            let error = panics.join().unwrap_err();
            assert!(error.is_panic());
            seen.join().unwrap();
            assert!(!std::thread::panicking());
        });
    };
    if let Some(ended) = apart("panics::a_panic_hook_that_waits", &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// If another fiber of its thread panics meanwhile, `std` takes that for a panic in the hook, and
/// ends the process. (Documented in the rules of the crate. `std` does not distinguish a hook from
/// a destructor, which must be able to wait for other fibers of the thread.)
#[test]
fn a_second_panic_while_a_panic_hook_waits() {
    let part = || {
        hook_that_waits();
        runtime(1).run(|| {
            let fibers = [1, 2].map(|n| pirn::spawn(move || panic_any(n)));
            for fiber in fibers {
                drop(fiber.join());
            }
        });
        std::process::exit(0);
    };
    let name = "panics::a_second_panic_while_a_panic_hook_waits";
    if let Some(ended) = apart(name, &[], part) {
        assert!(!ended.status.success());
        let said = "thread panicked while processing panic";
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
}

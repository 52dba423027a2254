//! An unobserved panic is reported to the hook of the runtime.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use pirn::scope::TaskGroup;
use pirn::spawn::Builder;
use pirn::{Runtime, channel};

use crate::util::{LONG, SCHEDULERS, eventually, scaled};

/// The reports, in order.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn add(&self, what: String) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.push(what);
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn on_every_reported_shape(test: impl Fn(&Runtime, &Told)) {
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 4, 8] {
            let told = Told::default();
            let tell = told.clone();
            let builder = Runtime::builder().workers(workers).scheduler(scheduler);
            let builder = builder.on_panic(move |panic| {
                let name = panic.name().unwrap_or("unnamed");
                assert!(panic.spawned_at().file().ends_with("unseen_panics.rs"));
                tell.add(format!("{name}: {}", panic.message().unwrap_or("?")));
            });
            test(&builder.build().unwrap(), &told);
        }
    }
}

fn fail(what: &'static str) {
    resume_unwind(Box::new(what));
}

/// A fiber that is detached before it ends, and one with a handle that is dropped when it has
/// ended.
// Proves: K14.
#[test]
fn a_panic_without_a_handle_is_reported() {
    on_every_reported_shape(|runtime, told| {
        let (tx, rx) = channel::bounded::<()>(0);
        let early = runtime.enter(|| {
            Builder::new().name("early").spawn(move || {
                assert!(rx.recv().is_err());
                fail("alone");
            })
        });
        early.unwrap().detach();
        drop(tx);
        eventually("it is told", || told.len() == 1);
        let late = runtime.spawn(|| fail("late"));
        late.wait().unwrap();
        assert_eq!(told.take(), ["early: alone"]);
        drop(late);
        assert_eq!(told.take(), ["unnamed: late"]);
    });
}

/// However a drop of the handle and an end coincide, the panic is reported once.
// Proves: K14.
#[test]
fn each_panic_is_reported_once() {
    on_every_reported_shape(|runtime, told| {
        let n = scaled(500);
        for _ in 0..n {
            drop(runtime.spawn(|| fail("once")));
        }
        eventually("all are told", || told.len() >= n);
        runtime.wait_idle().unwrap();
        assert_eq!(told.take().len(), n);
    });
}

/// An observed panic is not reported: it was joined, or raised by the scope. Of two panics in a
/// scope the other one is; in a supervised one, and in a group, the remaining ones.
// Proves: K14.
#[test]
fn a_panic_that_is_seen_is_not_reported() {
    on_every_reported_shape(|runtime, told| {
        assert!(runtime.spawn(|| fail("joined")).join().is_err());
        let scope = runtime.spawn(|| {
            pirn::scope(|s| {
                let joined = s.spawn(|| fail("joined"));
                assert!(joined.join().is_err());
                _ = s.spawn(|| fail("raised"));
            });
        });
        assert!(scope.join().is_err());
        assert_eq!(told.take(), [""; 0]);

        let raised = catch_unwind(AssertUnwindSafe(|| {
            runtime.scope(|s| {
                let (one, two) = (s.spawn(|| fail("twice")), s.spawn(|| fail("twice")));
                one.wait().and(two.wait()).unwrap();
            });
        }));
        assert!(raised.is_err());
        assert_eq!(told.take(), ["unnamed: twice"]);

        runtime.run(|| pirn::scope::supervise(|s| drop(s.spawn(|| fail("supervised")))));
        assert_eq!(told.take(), ["unnamed: supervised"]);

        runtime.run(|| {
            let group = TaskGroup::new();
            group.spawn(|| fail("in a group")).unwrap();
            group.spawn(|| fail("in a group")).unwrap();
            group.wait().unwrap();
            assert!(group.join_next().unwrap().unwrap().is_err());
        });
        eventually("the group has gone", || told.len() == 1);
        assert_eq!(told.take(), ["unnamed: in a group"]);
    });
}

/// The last handle is dropped on a plain thread, after the runtime has ended.
// Proves: K14.
#[test]
fn a_panic_outlives_its_runtime() {
    let told = Told::default();
    let tell = told.clone();
    let builder = Runtime::builder().workers(1);
    let runtime = builder.on_panic(move |panic| {
        tell.add(format!("{:?}", panic.payload().downcast_ref::<u32>()));
    });
    let runtime = runtime.build().unwrap();
    let handle = runtime.spawn(|| resume_unwind(Box::new(7_u32)));
    handle.wait().unwrap();
    runtime.shutdown(LONG).unwrap();
    assert_eq!(told.len(), 0);
    std::thread::spawn(move || drop(handle)).join().unwrap();
    assert_eq!(told.take(), ["Some(7)"]);
}

/// A hook that itself panics, or waits, does no harm.
// Proves: K14.
#[test]
fn a_hook_may_wait_and_panic() {
    for workers in [1, 2, 4, 8] {
        let told = Told::default();
        let tell = told.clone();
        let builder = Runtime::builder().workers(workers).on_panic(move |_| {
            pirn::yield_now();
            pirn::spawn(pirn::yield_now).join().unwrap();
            tell.add(String::new());
            fail("again");
        });
        let runtime = builder.build().unwrap();
        for _ in 0..20 {
            runtime.spawn(|| fail("first")).detach();
        }
        eventually("all are told", || told.len() == 20);
        assert_eq!(runtime.spawn(|| 3).join().unwrap(), 3);
        runtime.wait_idle().unwrap();
        assert_eq!(told.len(), 20);
    }
}

//! Fiber-locals: a value belongs to its fiber, persists over every wait, and is dropped with the
//! fiber.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, runtime};
use crate::util::{Counted, Drops, on_every_shape, scaled};

pirn::fiber_local! {
    static NUMBER: Cell<usize> = Cell::new(7);
    /// Documented, public within the crate, and of another type.
    pub(crate) static WORDS: RefCell<Vec<String>> = RefCell::new(Vec::new());
    static HELD: RefCell<Option<Counted>> = RefCell::new(None);
}

/// F18. Each fiber, and each thread, has a value of its own, created at first use.
// Proves: K13.
#[test]
fn each_has_its_own() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for i in 0..16 {
            jobs.add(move || {
                assert_eq!(NUMBER.get(), 7);
                NUMBER.set(i);
                WORDS.with_borrow_mut(|words| words.push(i.to_string()));
                for _ in 0..50 {
                    pirn::yield_now();
                    assert_eq!(NUMBER.get(), i);
                }
                pirn::spawn(|| assert_eq!(NUMBER.get(), 7)).join().unwrap();
                assert_eq!(WORDS.with_borrow(|words| words.join(",")), i.to_string());
                assert_eq!(NUMBER.take(), i);
                assert_eq!(NUMBER.get(), 0);
            });
        }
        jobs.run(executor, 2);
    }
}

/// Values stay with their fibers over thousands of switches, on every shape.
// Proves: F18.
#[test]
fn values_stay_over_switches() {
    let rounds = scaled(2_000) / 4;
    on_every_shape(|runtime| {
        let fibers: Vec<_> = (0..40)
            .map(|i| {
                runtime.spawn(move || {
                    NUMBER.set(i);
                    for round in 0..rounds {
                        assert_eq!(NUMBER.get(), i + round);
                        NUMBER.set(i + round + 1);
                        pirn::yield_now();
                    }
                })
            })
            .collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
}

/// H-3. A value is dropped once, before its fiber counts as finished, also after a panic.
// Proves: K13.
#[test]
fn values_are_dropped_with_their_fiber() {
    let drops = Drops::default();
    let runtime = runtime(2);
    for panics in [false, true] {
        let value = drops.one();
        let before = drops.count();
        let fiber = runtime.spawn(move || {
            HELD.with_borrow_mut(|held| *held = Some(value));
            pirn::yield_now();
            assert!(!panics, "on purpose");
        });
        assert_eq!(fiber.join().is_err(), panics);
        assert_eq!(drops.count(), before + 1);
    }
}

/// A thread's values are dropped when the thread ends.
#[test]
fn values_are_dropped_with_their_thread() {
    let drops = Drops::default();
    let value = drops.one();
    let hold = move || HELD.with_borrow_mut(|held| *held = Some(value));
    std::thread::spawn(hold).join().unwrap();
    assert_eq!(drops.count(), 1);
}

/// Values are dropped newest first; values created by a destructor are dropped too.
#[test]
fn destructors_run_in_order_and_may_make_more() {
    static ORDER: AtomicUsize = AtomicUsize::new(0);
    struct Last(usize);
    impl Drop for Last {
        fn drop(&mut self) {
            ORDER.store(ORDER.load(Ordering::SeqCst) * 10 + self.0, Ordering::SeqCst);
            if self.0 == 2 {
                LATE.with(|_| ());
            }
        }
    }
    pirn::fiber_local! {
        static FIRST: Last = Last(1);
        static SECOND: Last = Last(2);
        static LATE: Last = Last(3);
    }
    let order_on = |run: &dyn Fn(fn())| {
        ORDER.store(0, Ordering::SeqCst);
        run(|| {
            FIRST.with(|_| ());
            SECOND.with(|_| ());
        });
        ORDER.load(Ordering::SeqCst)
    };
    let on_fiber = order_on(&|f| runtime(1).spawn(f).join().unwrap());
    // The late one is dropped as soon as it is the newest, or after the rest: either way once, and
    // the second before the first.
    assert!([231, 213].contains(&on_fiber), "{on_fiber}");
    let on_thread = order_on(&|f| std::thread::spawn(f).join().unwrap());
    assert!([231, 213].contains(&on_thread), "{on_thread}");
}

/// An initialiser that panics stores nothing; the next use tries again.
#[test]
fn an_initialiser_that_panics_is_tried_again() {
    static TRIES: AtomicUsize = AtomicUsize::new(0);
    pirn::fiber_local! {
        static FRAGILE: usize = match TRIES.fetch_add(1, Ordering::SeqCst) {
            0 => panic!("on purpose"),
            tries => tries,
        };
    }
    alone(|| {
        assert!(catch_unwind(|| FRAGILE.with(|_| ())).is_err());
        assert_eq!(FRAGILE.with(|value| *value), 1);
    });
}

/// An initialiser may use other fiber-locals, and wait.
#[test]
fn an_initialiser_may_use_others_and_wait() {
    pirn::fiber_local! {
        static SUM: usize = {
            pirn::yield_now();
            NUMBER.get() + pirn::spawn(|| 5).join().unwrap()
        };
    }
    alone(|| assert_eq!(SUM.with(|sum| *sum), 12));
}

/// A fiber that reuses the memory of another sees none of its values.
// Proves: M10.
#[test]
fn a_reused_header_carries_nothing_over() {
    const NAP: Duration = Duration::from_micros(20);
    on_every_shape(|runtime| {
        for i in 0..scaled(2_000) {
            let fiber = runtime.spawn(move || {
                assert_eq!(NUMBER.get(), 7);
                assert!(WORDS.with_borrow(Vec::is_empty));
                assert_eq!(pirn::current().name(), None);
                NUMBER.set(i);
                WORDS.with_borrow_mut(|words| words.push("left over".to_owned()));
                // A token that its fiber never takes.
                pirn::current().unpark();
            });
            if i % 3 == 0 {
                fiber.cancel();
                let _ = fiber.join();
            } else {
                fiber.join().unwrap();
            }
            let named = pirn::spawn::Builder::new().name("named");
            let named = runtime.enter(|| {
                named.spawn(|| {
                    let start = pirn::time::now();
                    pirn::spawn::park_timeout(NAP);
                    assert!(pirn::time::now() - start >= NAP, "a token is left over");
                    pirn::sleep(Duration::ZERO).unwrap();
                })
            });
            named.unwrap().join().unwrap();
        }
    });
}

/// An inheritable value is copied to the children of a scope; no other value is, and to no
/// other fiber.
// Proves: K13.
#[test]
fn children_inherit_what_is_declared_so() {
    pirn::fiber_local! {
        static REQUEST: RefCell<String> = RefCell::new("none".to_owned()), inherit;
        static OTHER: Cell<u32> = Cell::new(0);
    }
    on_every_shape(|runtime| {
        runtime.run(|| {
            REQUEST.with(|request| "first".clone_into(&mut request.borrow_mut()));
            OTHER.set(1);
            let seen = || {
                (
                    REQUEST.with(|request| request.borrow().clone()),
                    OTHER.get(),
                )
            };
            pirn::scope(|s| {
                let child = s.spawn(|| {
                    let begun_with = seen();
                    REQUEST.with(|request| request.borrow_mut().push_str(", changed"));
                    let grandchild = pirn::scope(|s| s.spawn(seen).join().unwrap());
                    (begun_with, grandchild)
                });
                REQUEST.with(|request| "second".clone_into(&mut request.borrow_mut()));
                let (child, grandchild) = child.join().unwrap();
                assert_eq!(child, ("first".to_owned(), 0));
                assert_eq!(grandchild, ("first, changed".to_owned(), 0));
            });
            let detached = pirn::spawn(seen).join().unwrap();
            assert_eq!(detached, ("none".to_owned(), 0));
        });
    });
}

/// A panic of a clone propagates through the spawn; the scope ends all the same.
#[test]
fn a_clone_that_panics() {
    struct Fragile;
    impl Clone for Fragile {
        fn clone(&self) -> Self {
            panic_any("no copies")
        }
    }
    pirn::fiber_local! {
        static FRAGILE: Fragile = Fragile, inherit;
    }
    let drops = Drops::default();
    let raised = pirn::run(|| {
        FRAGILE.with(|_| ());
        catch_unwind(AssertUnwindSafe(|| {
            pirn::scope(|s| {
                let capture = drops.one();
                s.spawn(move || drop(capture));
            });
        }))
    });
    assert_eq!(raised.unwrap_err().downcast_ref(), Some(&"no copies"));
    assert_eq!(drops.count(), 1);
}

/// A child that no runtime admits leaves none of its inherited values to other fibers.
#[test]
fn a_refused_child_leaves_nothing_behind() {
    pirn::fiber_local! {
        static LENT: RefCell<Option<Arc<()>>> = RefCell::new(None), inherit;
    }
    let lent = Arc::new(());
    let over = runtime(1);
    let handle = over.handle();
    over.shutdown(Duration::from_secs(60)).unwrap();
    std::thread::spawn({
        let one = Arc::clone(&lent);
        move || {
            LENT.with(|lent| *lent.borrow_mut() = Some(one));
            for _ in 0..4 {
                handle.scope(|s| {
                    assert!(s.spawn(|| ()).join().is_err());
                    assert!(s.try_spawn(|| ()).is_err());
                });
                let seen = pirn::spawn(|| LENT.with(|lent| lent.borrow().is_some()));
                assert!(!seen.join().unwrap());
            }
        }
    })
    .join()
    .unwrap();
    assert_eq!(Arc::strong_count(&lent), 1, "a copy is left somewhere");
}

/// The initializer of a key may call a function with any name.
#[test]
fn an_initializer_may_be_named_init() {
    fn init() -> u32 {
        5
    }
    pirn::fiber_local! {
        static OWN: u32 = init();
        static INHERITED: u32 = init(), inherit;
    }
    assert_eq!(
        pirn::run(|| OWN.with(|own| *own) + INHERITED.with(|own| *own)),
        10
    );
}

/// An initializer that uses its own key creates the value: there is one.
#[test]
fn an_initializer_may_use_its_own_key() {
    pirn::fiber_local! {
        static AGAIN: Cell<bool> = Cell::new(false);
        static OWN: Cell<u32> = {
            if !AGAIN.with(|again| again.replace(true)) {
                OWN.set(5);
            }
            Cell::new(1)
        };
    }
    pirn::run(|| assert_eq!((OWN.get(), OWN.get()), (5, 5)));
}

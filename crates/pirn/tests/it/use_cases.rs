//! The ways to submit work to a task system: with and without borrows, with and without waiting.
//! The cases that must not compile are in `crates/ui-suite/tests/ui`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::scope::TaskGroup;

use crate::util::{Drops, on_every_shape};

/// No borrow, no wait; the runtime waits when it is dropped.
// Proves: O1, O13.
#[test]
fn fire_and_forget() {
    let ran = Arc::new(AtomicUsize::new(0));
    let runtime = crate::executor_kind::runtime(2);
    for _ in 0..100 {
        let ran = Arc::clone(&ran);
        runtime
            .spawn(move || ran.fetch_add(1, Ordering::SeqCst))
            .detach();
    }
    drop(runtime);
    assert_eq!(ran.load(Ordering::SeqCst), 100);
}

/// Several tasks on one handle, added at any time; waits for each, or for all.
// Proves: O2.
#[test]
fn many_tasks_on_one_handle() {
    on_every_shape(|runtime| {
        let ran = Arc::new(AtomicUsize::new(0));
        let add = |group: &TaskGroup| {
            let ran = Arc::clone(&ran);
            let job = move || {
                ran.fetch_add(1, Ordering::SeqCst);
            };
            runtime.enter(|| group.spawn(job)).unwrap();
        };
        let (first, second) = (TaskGroup::new(), TaskGroup::new());
        add(&first);
        add(&first);
        first.wait().unwrap();
        assert_eq!(ran.load(Ordering::SeqCst), 2);
        add(&first);
        add(&second);
        runtime.wait_idle().unwrap();
        assert_eq!(ran.load(Ordering::SeqCst), 4);
    });
}

/// O3. A local borrow with an explicit wait, which the compiler cannot check.
// Proves: O4.
#[test]
#[expect(unsafe_code, reason = "the promise that the group is waited for")]
fn a_borrow_that_is_waited_for() {
    on_every_shape(|runtime| {
        let drops = Drops::default();
        let local = (7, drops.one());
        let seen = AtomicUsize::new(0);
        runtime.enter(|| {
            let group = TaskGroup::new();
            let job = || {
                seen.store(local.0, Ordering::SeqCst);
            };
            // SAFETY: waited for below, before `local` and `seen` end; nothing in between
            // unwinds.
            unsafe { group.spawn_unchecked(job) }.unwrap();
            group.wait().unwrap();
        });
        assert_eq!(seen.into_inner(), 7);
        assert_eq!(drops.count(), 0);
    });
}

/// A local borrow, run at once and waited for.
// Proves: O5.
#[test]
fn run_and_wait() {
    on_every_shape(|runtime| {
        let arg = String::from("argument");
        let mut result = 0;
        runtime.run(|| result = arg.len());
        assert_eq!(result, 8);
        runtime.run(|| {
            let fiber = pirn::current().id();
            pirn::run(|| {
                assert_eq!(pirn::current().id(), fiber, "not in place");
                result += arg.len();
            });
        });
        assert_eq!(result, 16);
    });
}

/// O6. Local borrows in a scope; tasks in tasks, ten by ten, without any chaining.
// Proves: O8.
#[test]
fn tasks_in_tasks() {
    on_every_shape(|runtime| {
        let mut results = [[0; 10]; 10];
        runtime.scope(|s| {
            for (i, row) in results.iter_mut().enumerate() {
                s.spawn(move || {
                    pirn::scope(|s| {
                        for (j, place) in row.iter_mut().enumerate() {
                            s.spawn(move || *place = i * 10 + j);
                        }
                    });
                    row.iter().sum::<usize>()
                });
            }
        });
        let all: Vec<usize> = results.into_iter().flatten().collect();
        assert!(all.into_iter().eq(0..100));
    });
}

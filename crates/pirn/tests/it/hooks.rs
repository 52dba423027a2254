//! Thread hooks: where they run, and what they cannot break.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use pirn::Runtime;
use pirn::runtime::{Handle, Scheduler};

use crate::rig::{LONG, SCHEDULERS, eventually};

/// A panic's payload whose destructor panics.
struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        panic!("on purpose, too");
    }
}

/// Runs a fiber on `runtime` and drops that. A runtime whose workers are gone would be
/// waited for in vain, so it is left alone then.
fn check_and_drop(runtime: Runtime, workers: usize, scheduler: Scheduler) {
    for _ in 0..20 {
        let joined = runtime.spawn(|| 5).join_timeout(LONG);
        if !matches!(joined, Ok(Ok(5))) {
            let _left = ManuallyDrop::new(runtime);
            panic!("a fiber did not run: {workers} workers, {scheduler:?}");
        }
    }
    drop(runtime);
}

/// A start hook that panics takes no worker away, whatever its payload does.
#[test]
fn a_start_hook_that_panics() {
    for scheduler in SCHEDULERS {
        for workers in [1, 3] {
            for explosive in [false, true] {
                let builder = Runtime::builder().workers(workers).scheduler(scheduler);
                let runtime = builder
                    .on_thread_start(move || match explosive {
                        false => panic!("on purpose"),
                        true => panic_any(Explosive),
                    })
                    .build()
                    .unwrap();
                check_and_drop(runtime, workers, scheduler);
            }
        }
    }
}

/// E16. Both hooks run once on the thread of each worker, before its first fiber and after its last, and find its number
/// at the end of the thread's name.
#[test]
fn each_worker_calls_both_hooks() {
    std::thread_local! {
        static STARTED: Cell<bool> = const { Cell::new(false) };
    }
    const WORKERS: usize = 5;
    let name = || std::thread::current().name().unwrap().to_owned();
    for scheduler in SCHEDULERS {
        let calls: Arc<Mutex<[Vec<String>; 2]>> = Arc::default();
        let (starts, stops) = (Arc::clone(&calls), Arc::clone(&calls));
        let builder = Runtime::builder().workers(WORKERS).max_threads(WORKERS);
        let runtime = builder
            .name("own")
            .scheduler(scheduler)
            .on_thread_start(move || {
                assert!(!STARTED.replace(true));
                starts.lock().unwrap()[0].push(name());
            })
            .on_thread_stop(move || {
                assert!(STARTED.replace(false));
                stops.lock().unwrap()[1].push(name());
            })
            .build()
            .unwrap();
        let arrived = AtomicUsize::new(0);
        runtime.scope(|s| {
            for _ in 0..WORKERS {
                s.spawn(|| {
                    arrived.fetch_add(1, Ordering::SeqCst);
                    assert!(STARTED.get(), "a fiber before the hook");
                    let all = || arrived.load(Ordering::SeqCst) == WORKERS;
                    eventually("one on each", all);
                });
            }
        });
        drop(runtime);
        let each: Vec<_> = (0..WORKERS).map(|n| format!("own-{n}")).collect();
        for mut names in std::mem::take(&mut *calls.lock().unwrap()) {
            names.sort();
            assert_eq!(names, each, "{scheduler:?}");
        }
    }
}

/// A stop hook that panics does not keep the runtime from ending, and what the thread still
/// destroys after it finds a plain thread and not the worker that has gone.
#[test]
fn a_stop_hook_that_panics() {
    struct Late(Arc<AtomicUsize>);
    impl Drop for Late {
        fn drop(&mut self) {
            let of_a_worker = Handle::try_current().is_some();
            self.0
                .fetch_add(if of_a_worker { 100 } else { 1 }, Ordering::SeqCst);
        }
    }
    std::thread_local! {
        static LATE: Cell<Option<Late>> = const { Cell::new(None) };
    }
    for scheduler in SCHEDULERS {
        let late = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&late);
        let builder = Runtime::builder().workers(1).scheduler(scheduler);
        let runtime = builder
            .on_thread_stop(move || {
                LATE.set(Some(Late(Arc::clone(&seen))));
                panic_any(Explosive);
            })
            .build()
            .unwrap();
        check_and_drop(runtime, 1, scheduler);
        assert_eq!(late.load(Ordering::SeqCst), 1, "{scheduler:?}");
    }
}

/// A start hook that would wait for its own runtime, of which its thread is a part, is told
/// so by a panic, instead of being waited for by the very fibers that it waits for. Spawning
/// is fine, and so is everything on another runtime.
#[test]
fn a_start_hook_cannot_wait_for_its_runtime() {
    type Wait = fn(&Handle);
    let waits: [(&str, Wait); 4] = [
        ("run", |own| own.run(|| ())),
        ("scope", |own| own.scope(|s| drop(s.spawn(|| ())))),
        ("wait_idle", |own| own.wait_idle().unwrap()),
        ("join", |own| _ = own.spawn(|| ()).join()),
    ];
    for scheduler in SCHEDULERS {
        for (name, wait) in waits {
            let (give, own) = std::sync::mpsc::channel::<Handle>();
            let (own, said) = (Mutex::new(own), Arc::new(OnceLock::new()));
            let says = Arc::clone(&said);
            let hook = move || {
                let handle = &own.lock().unwrap().recv().unwrap();
                handle.spawn(|| ()).detach();
                let refused = catch_unwind(AssertUnwindSafe(|| wait(handle)))
                    .expect_err("it would wait for ever");
                let text = refused.downcast_ref::<String>().cloned();
                says.set(text.unwrap_or_default()).unwrap();
                assert_eq!(crate::crew::runtime(1).run(|| 7), 7);
            };
            let builder = Runtime::builder().workers(1).scheduler(scheduler);
            let runtime = builder.on_thread_start(hook).build().unwrap();
            give.send(runtime.handle()).unwrap();
            check_and_drop(runtime, 1, scheduler);
            let said = said.wait();
            assert!(said.contains("on_thread_start"), "{name}: `{said}`");
        }
    }
}

/// A start hook may take the last reference of its runtime and drop it: that ends by itself,
/// as when one of its fibers does so.
#[test]
fn a_start_hook_that_drops_its_runtime() {
    for scheduler in SCHEDULERS {
        let given: Arc<Mutex<Option<Runtime>>> = Arc::default();
        let (taken, stopped) = (Arc::clone(&given), Arc::new(AtomicUsize::new(0)));
        let stops = Arc::clone(&stopped);
        let builder = Runtime::builder().workers(1).scheduler(scheduler);
        let runtime = builder
            .on_thread_start(move || {
                loop {
                    if let Some(runtime) = taken.lock().unwrap().take() {
                        break drop(runtime);
                    }
                    std::thread::yield_now();
                }
            })
            .on_thread_stop(move || _ = stops.fetch_add(1, Ordering::SeqCst))
            .build()
            .unwrap();
        let left = runtime.spawn(|| ());
        *given.lock().unwrap() = Some(runtime);
        eventually("its worker ends", || stopped.load(Ordering::SeqCst) == 1);
        assert!(left.join().is_err(), "cancelled before it could run");
    }
}

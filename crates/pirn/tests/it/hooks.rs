//! Thread hooks: where they run, and the effect of their panics.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use pirn::runtime::{Handle, Scheduler};
use pirn::scope::TaskGroup;
use pirn::{Runtime, channel};

use crate::util::{LONG, SCHEDULERS, eventually, scaled};

/// A panic payload with a panicking destructor.
struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        panic!("on purpose, too");
    }
}

/// Runs a fiber on `runtime` and drops the runtime. If its workers have ended the drop would never
/// return, so the runtime is leaked then.
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

/// A start hook that panics ends no worker, with any payload.
// Proves: E16, H-12.
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

std::thread_local! {
    /// How often each hook has run on this thread.
    static CALLS: Cell<[u32; 2]> = const { Cell::new([0; 2]) };
}

/// The thread of a hook's call, and its counts at that time.
type Call = (String, [u32; 2]);

/// Counts fibers that run before the start hook of their thread or after its stop hook.
#[derive(Clone, Default)]
struct Strays(Arc<AtomicUsize>);

impl Strays {
    fn look(&self) {
        let stray = CALLS.get() != [1, 0];
        self.0.fetch_add(usize::from(stray), Ordering::SeqCst);
    }
}

/// Observes the end of its fiber, which is one of the last of its runtime.
struct Last {
    strays: Strays,
    ended: Arc<AtomicUsize>,
}

impl Drop for Last {
    fn drop(&mut self) {
        self.strays.look();
        self.ended.fetch_add(1, Ordering::SeqCst);
    }
}

/// Both hooks run once on the thread of each worker, before its first fiber and after its last, and
/// find its number at the end of the thread's name.
// Proves: E16.
#[test]
fn each_worker_calls_both_hooks() {
    const WORKERS: usize = 5;
    let name = || std::thread::current().name().unwrap().to_owned();
    for scheduler in SCHEDULERS {
        let calls: Arc<Mutex<Vec<Call>>> = Arc::default();
        let hook = |which: usize| {
            let calls = Arc::clone(&calls);
            move || {
                let mut own = CALLS.get();
                own[which] += 1;
                CALLS.set(own);
                calls.lock().unwrap().push((name(), own));
            }
        };
        let builder = Runtime::builder().workers(WORKERS).max_threads(WORKERS);
        let builder = builder.name("own").scheduler(scheduler);
        let builder = builder.on_thread_start(hook(0)).on_thread_stop(hook(1));
        let runtime = builder.build().unwrap();
        let strays = Strays::default();
        // Fibers that end with the runtime.
        let [begun, ended] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        let arrived = Mutex::new(Vec::new());
        let all_arrived = || arrived.lock().unwrap().len() == WORKERS;
        let (tx, rx) = channel::bounded::<()>(0);
        let (ends, end) = channel::bounded::<()>(0);
        runtime.scope(|s| {
            for _ in 0..WORKERS {
                s.spawn(|| {
                    strays.look();
                    let begun = Arc::clone(&begun);
                    let (strays, ended) = (strays.clone(), Arc::clone(&ended));
                    let last = Last { strays, ended };
                    let end = end.clone();
                    let until_the_end = move || {
                        last.strays.look();
                        begun.fetch_add(1, Ordering::SeqCst);
                        let _ = end.recv();
                        drop(last);
                    };
                    pirn::spawn(until_the_end).detach();
                    arrived.lock().unwrap().push((pirn::current().id(), name()));
                    eventually("one on each", all_arrived);
                    let _ = rx.recv();
                });
            }
            eventually("one on each", all_arrived);
            // Where fibers may migrate, a parked one is on no worker.
            #[cfg(not(pirn_free))]
            {
                let arrived = arrived.lock().unwrap().clone();
                // A list omits a worker that has no processor for 50 ms.
                let mut fibers = Vec::new();
                eventually("all are listed", || {
                    fibers = runtime.fibers();
                    let is_listed =
                        |(id, _): &(_, _)| fibers.iter().any(|info| info.id == *id);
                    arrived.iter().all(is_listed)
                });
                let worker =
                    |id| fibers.iter().find(|info| info.id == id).unwrap().worker;
                for (id, name) in arrived {
                    assert_eq!(name, format!("own-{}", worker(id)), "{scheduler:?}");
                }
            }
            drop(tx);
        });
        eventually("all have begun", || begun.load(Ordering::SeqCst) == WORKERS);
        drop(ends);
        drop(runtime);
        assert_eq!(ended.load(Ordering::SeqCst), WORKERS, "{scheduler:?}");
        assert_eq!(strays.0.load(Ordering::SeqCst), 0, "{scheduler:?}");
        let each = |n| [[1, 0], [1, 1]].map(|calls| (format!("own-{n}"), calls));
        let each: Vec<_> = (0..WORKERS).flat_map(each).collect();
        let mut calls = std::mem::take(&mut *calls.lock().unwrap());
        // Stable: the calls of one thread stay in their order.
        calls.sort_by(|(a, _), (b, _)| a.cmp(b));
        assert_eq!(calls, each, "{scheduler:?}");
    }
}

/// A stop hook that panics does not keep the runtime from ending, and later destructors of the
/// thread find a plain thread and not the ended worker.
// Proves: H-12.
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

/// A start hook that would wait for its own runtime panics, since the fibers that it waits for
/// would wait for its thread. It may spawn, and use any other runtime.
#[test]
fn a_start_hook_cannot_wait_for_its_runtime() {
    type Wait = fn(&Handle);
    fn in_group(wait: fn(&TaskGroup<()>)) {
        let group = TaskGroup::new();
        group.spawn(|| ()).unwrap();
        wait(&group);
    }
    let waits: [(&str, Wait); 8] = [
        ("run", |own| own.run(|| ())),
        ("scope", |own| own.scope(|s| drop(s.spawn(|| ())))),
        ("wait_idle", |own| own.wait_idle().unwrap()),
        ("join", |own| _ = own.spawn(|| ()).join()),
        ("group", |_| in_group(|group| group.wait().unwrap())),
        ("join_next", |_| in_group(|group| _ = group.join_next())),
        ("wait_timeout", |_| {
            in_group(|group| _ = group.wait_timeout(LONG));
        }),
        ("limited", |_| _ = TaskGroup::new().limit(1).spawn(|| ())),
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
                assert_eq!(crate::executor_kind::runtime(1).run(|| 7), 7);
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

/// A start hook may drop the last reference of its runtime: the runtime then shuts down by itself,
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

/// The drop of a runtime waits for the stop hook of its worker, also beside threads that still
/// spawn there: a fiber that is counted and about to be rejected is not one that is left.
#[test]
fn a_drop_beside_rejected_spawns_waits_for_the_stop_hook() {
    let waits = || {
        let [begun, ended] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let (begins, ends) = (Arc::clone(&begun), Arc::clone(&ended));
        let hook = move || {
            begins.store(true, Ordering::SeqCst);
            // Longer than the end of a runtime with remaining fibers takes.
            std::thread::sleep(Duration::from_secs(1));
            ends.store(true, Ordering::SeqCst);
        };
        let builder = Runtime::builder().workers(1).max_threads(1);
        let runtime = builder.on_thread_stop(hook).build().unwrap();
        let (handle, spawning) = (runtime.handle(), AtomicUsize::new(0));
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    handle.spawn(|| ()).detach();
                    spawning.fetch_add(1, Ordering::SeqCst);
                    while !begun.load(Ordering::SeqCst) {
                        handle.spawn(|| ()).detach();
                    }
                });
            }
            eventually("both spawn", || spawning.load(Ordering::SeqCst) == 2);
            drop(runtime);
            ended.load(Ordering::SeqCst)
        })
    };
    let all_wait = std::thread::scope(|threads| {
        let drops: Vec<_> = (0..scaled(16)).map(|_| threads.spawn(waits)).collect();
        drops.into_iter().all(|thread| thread.join().unwrap())
    });
    assert!(all_wait, "a drop has returned before the stop hook");
}

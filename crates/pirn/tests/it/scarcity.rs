//! The system has no more threads or no more memory for stacks.

use std::fs;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use pirn::spawn::{Builder, Rejected};
use pirn::{Runtime, channel};

use crate::util::{LONG, SCHEDULERS, apart, compute_until, data, eventually, reserved};

/// Address space for all allocations of these tests but threads: less than the stack of a thread.
const SPARE: usize = 1 << 20;

/// Limits the process to `more` bytes of address space beyond its current use; `None` removes the
/// limit.
fn limit(more: Option<usize>) {
    set_limit(libc::RLIMIT_AS, more.map(|more| reserved() + more));
}

/// The same for writable memory.
fn limit_data(more: Option<usize>) {
    set_limit(libc::RLIMIT_DATA, more.map(|more| data() + more));
}

#[expect(unsafe_code, reason = "limits are the system's")]
fn set_limit(resource: libc::__rlimit_resource_t, most: Option<usize>) {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the system writes to local variables.
    let got = unsafe { libc::getrlimit(resource, &raw mut limit) };
    assert_eq!(got, 0);
    limit.rlim_cur = most.map_or(limit.rlim_max, |most| most as libc::rlim_t);
    // SAFETY: a plain system call on values.
    let set = unsafe { libc::setrlimit(resource, &raw const limit) };
    assert_eq!(set, 0);
}

/// Calls `f` while the process cannot create a thread.
fn without_threads(f: impl FnOnce()) {
    let gate = RwLock::new(());
    std::thread::scope(|s| {
        let held = gate.write().unwrap();
        limit(Some(SPARE));
        // The stacks of ended threads can still be reused.
        let waits = || drop(gate.read().unwrap());
        while std::thread::Builder::new().spawn_scoped(s, waits).is_ok() {}
        f();
        limit(None);
        drop(held);
    });
}

/// Without the deadlock detector, which would be one thread more.
const ALONE: [(&str, &str); 1] = [("PIRN_DEADLOCK", "off")];

fn threads() -> usize {
    fs::read_dir("/proc/self/task").expect("is there").count()
}

/// If a worker's thread cannot be created the other workers do its work, and the worker is tried
/// again: once threads are available, it runs.
// Proves: H-13.
#[test]
fn a_worker_without_a_thread() {
    /// More than start while the first fiber is being started.
    const WORKERS: usize = 32;
    let part = || {
        for scheduler in SCHEDULERS {
            let started = Arc::new(AtomicUsize::new(0));
            let starts = Arc::clone(&started);
            let builder = Runtime::builder().workers(WORKERS).scheduler(scheduler);
            let runtime = builder
                .on_thread_start(move || _ = starts.fetch_add(1, Ordering::SeqCst))
                .build()
                .unwrap();
            // The stacks exist before the limit applies, and `std` has created the signal stacks of
            // the threads that start: it aborts if it cannot.
            runtime.run(|| ());
            std::thread::sleep(Duration::from_millis(50));
            without_threads(|| {
                for round in 0..100 {
                    let fiber = runtime.spawn(|| pirn::blocking(|| 3));
                    let joined = fiber.join_timeout(LONG);
                    assert!(
                        matches!(joined, Ok(Ok(3))),
                        "fiber {round} was left alone, {scheduler:?}"
                    );
                    if round % 10 == 0 {
                        // All are asleep, their monitor too.
                        std::thread::sleep(Duration::from_millis(5));
                    }
                }
                assert_eq!(runtime.metrics().total.rescues, 0);
            });
            let before = started.load(Ordering::SeqCst);
            assert!(before < WORKERS, "all workers have a thread");
            let arrived = AtomicUsize::new(0);
            runtime.scope(|s| {
                for _ in 0..=before {
                    s.spawn(|| {
                        arrived.fetch_add(1, Ordering::SeqCst);
                        compute_until("as many run at once", || {
                            arrived.load(Ordering::SeqCst) > before
                        });
                    });
                }
            });
            assert!(started.load(Ordering::SeqCst) > before);
        }
    };
    if let Some(ended) = apart("scarcity::a_worker_without_a_thread", &ALONE, part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// If a runtime finds memory or threads only for a part of itself the build fails, with the error
/// of that part, and the created part is released.
// Proves: H-13.
#[test]
fn a_runtime_without_threads_is_refused() {
    let part = || {
        let before = threads();
        let mut without_thread = 0;
        for quarter in 4.. {
            limit(Some(quarter << 18));
            let built = Runtime::builder().workers(2).build();
            limit(None);
            match built {
                Ok(runtime) => {
                    assert_eq!(runtime.run(|| 4), 4);
                    break;
                }
                Err(error) if error.kind() == ErrorKind::OutOfMemory => {
                    assert!(error.to_string().contains("out of stacks"), "{error}");
                }
                // That of the system, which says no more.
                Err(error) => {
                    assert_eq!(error.raw_os_error(), Some(libc::EAGAIN), "{error}");
                    without_thread += 1;
                }
            }
            eventually("its threads have gone", || threads() == before);
        }
        assert!(without_thread > 0, "memory was short only of stacks");
        eventually("its threads have gone", || threads() == before);
    };
    let name = "scarcity::a_runtime_without_threads_is_refused";
    if let Some(ended) = apart(name, &ALONE, part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// With memory for a few stacks, fewer than are opened at once, fibers run.
#[test]
fn memory_for_few_stacks() {
    let part = || {
        // The first stack takes the memory of all that are opened at once.
        let runtime = {
            let stacks = Runtime::builder().workers(2).stack_size(1 << 20);
            limit_data(Some(24 << 20));
            stacks.build().unwrap()
        };
        assert_eq!(runtime.spawn(|| 1).join_timeout(LONG).unwrap().unwrap(), 1);
        let (tx, rx) = channel::bounded::<usize>(0);
        let fibers: Vec<_> = (0..200)
            .map(|_| {
                let rx = rx.clone();
                runtime.spawn(move || rx.recv().unwrap())
            })
            .collect();
        for n in 0..200 {
            tx.send_timeout(n, LONG).unwrap();
        }
        let sum: usize = fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum();
        assert_eq!(sum, 199 * 100);
        let started = runtime.metrics().total;
        assert!(started.stack_waits > 0, "the limit was not reached");
        limit_data(None);
    };
    if let Some(ended) = apart("scarcity::memory_for_few_stacks", &ALONE, part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// Without memory for one stack a runtime is not built, and a fiber with a stack of its own
/// size is not spawned.
#[test]
fn no_memory_for_one_stack() {
    /// More than is available.
    const LARGE: usize = 64 << 20;
    let part = || {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        assert_eq!(runtime.run(|| 1), 1);
        limit_data(Some(LARGE / 4));
        let error = Runtime::builder().workers(1).stack_size(LARGE).build();
        let error = error.expect_err("no stack can be had");
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
        assert!(error.to_string().contains("out of stacks"), "{error}");
        runtime.run(|| {
            let builder = || Builder::new().stack_size(LARGE);
            let refused = builder().spawn(|| 2).expect_err("no stack can be had");
            assert_eq!(refused.reason(), Rejected::OutOfMemory);
            assert_eq!(refused.into_inner()(), 2);
            pirn::scope(|s| {
                let refused = builder().spawn_scoped(s, || 3);
                let refused = refused.expect_err("no stack can be had");
                assert_eq!(refused.reason(), Rejected::OutOfMemory);
            });
            limit_data(None);
            assert_eq!(builder().spawn(|| 4).unwrap().join().unwrap(), 4);
        });
    };
    if let Some(ended) = apart("scarcity::no_memory_for_one_stack", &ALONE, part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

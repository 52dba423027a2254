//! When the system has no more threads to give. (Stacks are in `stacks`.)

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use pirn::Runtime;

use crate::rig::{LONG, SCHEDULERS, apart, compute_until, eventually, reserved};

/// Address space for everything that is made here but threads: less than one's stack.
const SPARE: usize = 1 << 20;

/// Lets the process have `more` bytes of address space beyond what it has; `None` takes the
/// limit away.
#[expect(unsafe_code, reason = "limits are the system's")]
fn limit(more: Option<usize>) {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the system fills in what is ours.
    let got = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    assert_eq!(got, 0);
    limit.rlim_cur = match more {
        Some(more) => (reserved() + more) as libc::rlim_t,
        None => limit.rlim_max,
    };
    // SAFETY: a plain system call on values.
    let set = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
    assert_eq!(set, 0);
}

/// Calls `f` while the process can have no further thread.
fn without_threads(f: impl FnOnce()) {
    let gate = RwLock::new(());
    std::thread::scope(|s| {
        let held = gate.write().unwrap();
        limit(Some(SPARE));
        // The stacks of threads that have ended are still there for others.
        let waits = || drop(gate.read().unwrap());
        while std::thread::Builder::new().spawn_scoped(s, waits).is_ok() {}
        f();
        limit(None);
        drop(held);
    });
}

/// Nobody looks for deadlocks: that would be one thread more.
const ALONE: [(&str, &str); 1] = [("PIRN_DEADLOCK", "off")];

fn threads() -> usize {
    fs::read_dir("/proc/self/task").expect("is there").count()
}

/// A worker whose thread cannot be made leaves its work to the others, and is tried again:
/// once there are threads, it runs.
#[test]
fn a_worker_without_a_thread() {
    /// More than start while the first fiber is on its way.
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
            // The stacks are there before there is nothing more.
            runtime.run(|| ());
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
        assert!(ended.status.success(), "{}", ended.stderr);
    }
}

/// A runtime that finds memory or threads for a part of itself only is refused, and what had
/// been made of it is gone.
#[test]
fn a_runtime_without_threads_is_refused() {
    let part = || {
        let before = threads();
        let mut refused = 0;
        for quarter in 4.. {
            limit(Some(quarter << 18));
            let built = Runtime::builder().workers(2).build();
            limit(None);
            match built {
                Ok(runtime) => {
                    assert_eq!(runtime.run(|| 4), 4);
                    break;
                }
                Err(_) => refused += 1,
            }
            eventually("its threads have gone", || threads() == before);
        }
        assert!(refused > 0);
        eventually("its threads have gone", || threads() == before);
    };
    let name = "scarcity::a_runtime_without_threads_is_refused";
    if let Some(ended) = apart(name, &ALONE, part) {
        assert!(ended.status.success(), "{}", ended.stderr);
    }
}

//! Workers that are pinned to a processor each.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn::dispatcher::Dispatcher;
use pirn::process::Command;
use pirn::runtime::Builder;

use crate::util::{apart, compute_until, eventually};

fn workers(n: usize) -> Builder {
    Runtime::builder().workers(n)
}

/// Returns the processors that the calling thread may use.
fn allowed() -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.expect("is there").trim().to_owned()
}

/// Threads that are created on a pinned worker may use all processors: those for blocking calls, and
/// those of other runtimes. So may child processes, and other runtimes that pin their workers.
// Proves: E17.
#[test]
fn threads_of_a_pinned_worker_are_not_pinned() {
    let own = allowed();
    let pinned = || workers(1).pin_workers(true).build().unwrap();
    let elsewhere = pinned().run(|| {
        let called = pirn::blocking(allowed);
        let other = workers(1).build().unwrap().run(allowed);
        let standby = Dispatcher::io().run(allowed);
        [called, other, standby]
    });
    assert_eq!(elsewhere, [own.clone(), own.clone(), own.clone()]);
    let [child, itself] = pinned().run(|| {
        let mut list = Command::new("grep");
        list.args(["Cpus_allowed_list", "/proc/self/status"]);
        let output = list.output().unwrap();
        [String::from_utf8(output.stdout).unwrap(), allowed()]
    });
    assert_eq!(child.split_once(':').unwrap().1.trim(), own, "of a child");
    itself.parse::<usize>().expect("one processor");
    let processors = |runtime: Runtime| {
        let fibers = (0..8).map(|_| {
            runtime.spawn(|| {
                let until = Instant::now() + Duration::from_millis(20);
                compute_until("it has taken 20 ms", || Instant::now() >= until);
                allowed()
            })
        });
        let fibers: Vec<_> = fibers.collect();
        let used = fibers.into_iter().map(|fiber| fiber.join().unwrap());
        used.collect::<BTreeSet<_>>().len()
    };
    let inside = pinned().run(|| {
        let builder = Runtime::builder().workers(2).max_threads(2);
        processors(builder.pin_workers(true).build().unwrap())
    });
    let there_are = thread::available_parallelism().unwrap().get();
    assert_eq!(inside, there_are.min(2), "processors of two pinned workers");
}

/// Pinned workers may use one processor each, a different one while there are enough; other workers
/// all processors of the process.
// Proves: E17.
#[test]
fn pinned_workers_stay_on_their_processor() {
    let own = allowed();
    assert_eq!(workers(2).build().unwrap().run(allowed), own);
    let pinned = workers(3).max_threads(3).pin_workers(true).build().unwrap();
    let arrived = AtomicUsize::new(0);
    pinned.scope(|s| {
        let fibers: Vec<_> = (0..3)
            .map(|_| {
                s.spawn(|| {
                    arrived.fetch_add(1, Ordering::SeqCst);
                    let all = || arrived.load(Ordering::SeqCst) >= 3;
                    eventually("one on each", all);
                    allowed()
                })
            })
            .collect();
        let used: BTreeSet<usize> = fibers
            .into_iter()
            .map(|fiber| {
                let cpu = fiber.join().unwrap();
                cpu.parse()
                    .unwrap_or_else(|_| panic!("{cpu} is not one processor"))
            })
            .collect();
        let there_are = thread::available_parallelism().unwrap().get();
        assert!(used.len() >= there_are.min(3), "three workers on {used:?}");
    });
}

/// A program that replaces the process may use the processors that the thread might before.
// Proves: E17.
#[test]
fn a_program_that_replaces_the_process_is_not_pinned() {
    let own = allowed();
    let name = "pinned::a_program_that_replaces_the_process_is_not_pinned";
    let ended = apart(name, &[], || {
        let mut list = Command::new("sh");
        list.args(["-c", "grep Cpus_allowed_list /proc/self/status >&2"]);
        let runtime = workers(1).pin_workers(true).build().unwrap();
        runtime.run(|| panic!("{}", list.exec()));
    });
    if let Some(ended) = ended {
        let mut lines = ended.stderr.lines();
        let line = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        assert_eq!(line.expect("is there").trim(), own);
    }
}

//! Tests that cannot end fail, with the reason and the seed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use pirn::runtime::{Deadlock, Runtime, test};
use pirn::spawn::park_interruptible;
use pirn::{channel, spawn, sync, yield_now};

use crate::util::{Ended, LONG, apart, watched};

const SEED: &[(&str, &str)] = &[("PIRN_SEED", "77")];
const SOON: Duration = Duration::from_millis(100);

/// Returns the message of the panic that `f` raises.
fn message(f: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("it fails");
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().expect("a message")).to_owned(),
    }
}

/// Checks that a part of a test passes in a process of its own.
fn passes(
    name: &str,
    environment: &[(&str, &str)],
    part: impl FnOnce(),
) -> Option<Ended> {
    let ended = apart(name, environment, part)?;
    assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    Some(ended)
}

/// Checks that a part of a test ends its process for a deadlock.
fn ends(name: &str, environment: &[(&str, &str)], part: impl FnOnce()) -> Option<Ended> {
    let ended = apart(name, environment, part)?;
    assert_eq!(ended.status.code(), Some(124), "{}", ended.stderr);
    Some(ended)
}

fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
}

fn receives_from_itself() -> bool {
    let (_tx, rx) = channel::bounded::<()>(1);
    rx.recv().is_err()
}

/// Nothing is left that could wake a fiber: the test fails by a panic, after all fibers have ended.
// Proves: P13-X-stuck.
#[test]
fn a_deadlock_fails_with_the_seed() {
    passes("trials::a_deadlock_fails_with_the_seed", SEED, || {
        let borrowed = Mutex::new(0);
        let said = message(|| {
            test(|_| {
                let other = pirn::scope(|s| {
                    s.spawn(|| park_interruptible());
                    *borrowed.lock().unwrap() += 1;
                    receives_from_itself()
                });
                assert!(other, "it was interrupted");
                *borrowed.lock().unwrap() += 1;
            });
        });
        assert_eq!(*borrowed.lock().unwrap(), 2, "the fiber has ended");
        let is_ours =
            |line: &str| line.contains("spawned at") && line.contains("testing.rs");
        assert!(!said.lines().any(is_ours), "a line of the library: {said}");
        has(
            &said,
            &[
                "deadlock in the test 'trials::",
                "trials.rs:",
                "2 fibers wait, and no thread is left to wake them",
                "(Recv)",
                "spawned at",
                "PIRN_SEED=77 reproduces this",
            ],
        );
    });
}

/// The same with a harness on the main thread, which waits for the tests.
// Proves: P13-X-stuck.
#[test]
fn a_harness_does_not_count() {
    let part = "PIRN_TEST_TRIAL";
    if std::env::var_os(part).is_some() {
        let said = message(|| _ = test(|_| receives_from_itself()));
        has(
            &said,
            &["'trials::a_harness_does_not_count'", "1 fiber waits"],
        );
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = "trials::a_harness_does_not_count";
    command.args(["--exact", name, "--nocapture", "--test-threads=2"]);
    command.env(part, "1").env_remove("PIRN_DEADLOCK");
    let ended = watched(&mut command);
    assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
}

/// A remaining fiber that waits indefinitely fails the test; a panic of the test itself takes
/// precedence.
#[test]
fn what_is_left_behind_counts() {
    passes("trials::what_is_left_behind_counts", SEED, || {
        let said = message(|| test(|_| drop(spawn(receives_from_itself))));
        has(&said, &["1 fiber waits", "PIRN_SEED=77"]);
        let fails = || {
            test(|_| {
                drop(spawn(receives_from_itself));
                panic!("on purpose");
            });
        };
        assert_eq!(message(fails), "on purpose");
    });
}

/// A deadlock that cannot be interrupted, detected by its cycle though another fiber keeps
/// running: the process ends.
// Proves: P13-X-stuck.
#[test]
fn locks_in_a_cycle_end_the_process() {
    let ended = ends("trials::locks_in_a_cycle_end_the_process", SEED, || {
        test(|_| {
            let locks = [(); 2].map(|()| Arc::new(sync::Mutex::new(())));
            let ticks = spawn(|| while pirn::sleep(SOON).is_ok() {});
            let fibers = [0, 1].map(|i| {
                let locks = locks.clone();
                spawn(move || {
                    let _first = locks[i].lock();
                    pirn::sleep(SOON).unwrap();
                    let _second = locks[1 - i].lock();
                })
            });
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
            ticks.cancel();
        });
    });
    let Some(Ended { stderr, .. }) = ended else {
        return;
    };
    has(
        &stderr,
        &[
            "deadlock in the test 'trials::",
            "2 fibers wait for each other",
            "PIRN_SEED=77",
            "its fibers did not end",
        ],
    );
}

/// A fiber holds a lock of `std` while another one acquires it: the only thread blocks
/// indefinitely.
// Proves: P13-X-stuck.
#[test]
fn a_thread_that_is_stuck_ends_the_process() {
    let name = "trials::a_thread_that_is_stuck_ends_the_process";
    let ended = ends(name, SEED, || {
        Runtime::builder().stuck_limit(10 * SOON).test(|_| {
            let lock = Arc::new(Mutex::new(()));
            let fibers = [(); 2].map(|()| {
                let lock = Arc::clone(&lock);
                spawn(move || {
                    let _held = lock.lock().unwrap();
                    yield_now();
                })
            });
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        });
    });
    let Some(Ended { stderr, .. }) = ended else {
        return;
    };
    has(
        &stderr,
        &[
            "the test 'trials::",
            "has blocked the runtime's only thread, in a lock",
            "spawned at",
            "trials.rs:",
            "PIRN_SEED=77",
        ],
    );
}

/// A thread that has kept a sender may be slow: there is a report, and no verdict.
// Proves: P13-X-stuck.
#[test]
fn a_thread_may_take_its_time() {
    let name = "trials::a_thread_may_take_its_time";
    let ended = passes(name, SEED, || {
        let (tx, rx) = channel::bounded(1);
        let (go, wait) = mpsc::channel();
        let sender = thread::spawn(move || {
            wait.recv().unwrap();
            thread::sleep(40 * SOON);
            tx.send(7).unwrap();
        });
        let received = Runtime::builder().stuck_limit(10 * SOON).test(|_| {
            go.send(()).unwrap();
            rx.recv()
        });
        assert_eq!(received, Ok(7));
        sender.join().unwrap();
    });
    let Some(Ended { stderr, .. }) = ended else {
        return;
    };
    has(
        &stderr,
        &["nothing has run for 1000 ms", "(Recv)", "PIRN_SEED=77"],
    );
    assert_eq!(stderr.matches("nothing has run").count(), 1, "{stderr}");
    assert!(!stderr.contains("deadlock"), "{stderr}");
}

/// Neither an idle test, nor one that computes or blocks its thread for long, is taken for stuck.
#[test]
fn what_goes_on_is_not_stuck() {
    passes("trials::what_goes_on_is_not_stuck", &[], || {
        Runtime::builder().stuck_limit(3 * SOON).test(|_| {
            thread::sleep(15 * SOON);
            let until = std::time::Instant::now() + 15 * SOON;
            while std::time::Instant::now() < until {
                std::hint::spin_loop();
            }
            pirn::blocking(|| thread::sleep(15 * SOON));
        });
    });
}

/// The deadlock setting of ordinary runtimes applies to tests.
// Proves: P10.
#[test]
fn what_is_done_is_the_users_choice() {
    let name = "trials::what_is_done_is_the_users_choice";
    let abort = [("PIRN_DEADLOCK", "abort")];
    let ended = ends(name, &abort, || _ = test(|_| receives_from_itself()));
    if let Some(Ended { stderr, .. }) = ended {
        has(
            &stderr,
            &["deadlock in the test", "1 fiber waits", "PIRN_SEED="],
        );
    }
}

/// The builder's setting takes precedence: the test fails, and the process continues.
// Proves: P10.
#[test]
fn the_builders_choice_comes_first() {
    let name = "trials::the_builders_choice_comes_first";
    passes(name, &[("PIRN_DEADLOCK", "abort")], || {
        let builder = Runtime::builder().deadlock(Deadlock::Report);
        let said = message(|| _ = builder.test(|_| receives_from_itself()));
        has(&said, &["deadlock in the test", "1 fiber waits"]);
    });
}

/// Many seeds at once, on threads that belong to no test: no verdict on those that end.
#[test]
fn trials_go_on_side_by_side() {
    thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for _ in 0..50 {
                    test(|_| {
                        let (tx, rx) = channel::bounded(1);
                        drop(spawn(move || tx.send(1)));
                        assert_eq!(pirn::timeout(LONG, || rx.recv()), Ok(Ok(1)));
                    });
                }
            });
        }
    });
}

/// How often the detector's thread has parked.
fn sleeps_of_the_watch() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let statuses =
        tasks.filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok());
    let watch = statuses.filter(|status| status.contains("Name:\tpirn-watch\n"));
    let count = |status: String| {
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.unwrap().trim().parse::<u64>().unwrap()
    };
    watch.map(count).sum()
}

/// P6. The detector checks once a second, also after it has stopped and was woken again.
#[test]
fn the_watch_looks_once_a_second() {
    passes("trials::the_watch_looks_once_a_second", &[], || {
        pirn::run(|| ());
        thread::sleep(40 * SOON);
        let stopped = sleeps_of_the_watch();
        assert!(stopped > 0, "there is a watch");
        pirn::run(|| {
            for _ in 0..300 {
                pirn::sleep(SOON / 10).unwrap();
            }
        });
        let looks = sleeps_of_the_watch() - stopped;
        assert!(looks < 100, "{looks} in three seconds");
    });
}

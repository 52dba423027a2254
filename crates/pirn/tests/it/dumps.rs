//! Dumps: their content, and where and when they may be requested.

use std::fs::{self, File};
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pirn::diag::{Reason, State, name_object};
use pirn::sync::{Event, Mutex};
use pirn::{channel, select, spawn};

use crate::executor_kind::{alone, runtime};
use crate::report_util::{named, own_id, waiting};
use crate::util::{
    Directory, SCHEDULERS, again, eventually, is_again, on_every_shape, shaped,
};

/// For a worker that computes, the dump lists the fiber that it runs, and says that the worker
/// does not answer; fibers that have not started are counted.
// Where fibers may migrate the worker's answer is not needed.
// Proves: P4.
#[cfg(not(pirn_free))]
#[test]
fn a_worker_that_computes_is_described_from_outside() {
    let runtime = runtime(2);
    let stop = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&stop);
    let started = Arc::new(AtomicBool::new(false));
    let begun = Arc::clone(&started);
    let busy = runtime.spawn(move || {
        begun.store(true, Ordering::SeqCst);
        while !theirs.load(Ordering::SeqCst) {
            std::hint::spin_loop();
        }
    });
    eventually("it computes", || started.load(Ordering::SeqCst));
    let fibers = runtime.fibers();
    assert_eq!(fibers.len(), 1, "{fibers:?}");
    assert_eq!(fibers[0].id, busy.fiber().id());
    assert_eq!(fibers[0].state, State::Running);
    let mut text = Vec::new();
    runtime.dump(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("does not answer; 1 fibers"), "{text}");
    stop.store(true, Ordering::SeqCst);
    busy.join().unwrap();
}

/// The text of a dump has the documented shape.
// Proves: O11, P4.
#[test]
fn a_dump_has_its_shape() {
    alone(|| {
        let (tx, rx) = channel::bounded::<u8>(1);
        name_object(&tx, "letters");
        let fiber = named("reader", move || _ = rx.recv());
        pirn::yield_now();
        let mut text = Vec::new();
        pirn::runtime::Handle::current().dump(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let head = "runtime 'pirn': 1 of 1 workers started, 2 fibers started, 0 in the \
                    injector, 0 without a stack";
        assert_eq!(lines[0], head);
        assert!(lines[1].starts_with("  stacks: "), "{text}");
        assert!(
            lines[1].contains(" bytes touched in the deepest of "),
            "{text}"
        );
        assert_eq!(lines[2], "  worker 0: 2 fibers, 0 ready, 0 fresh");
        // By their ids, which are not in the order of starts where memory is used again.
        let fibers = lines
            .iter()
            .filter_map(|line| line.strip_prefix("    fiber "));
        let fibers: Vec<_> = fibers.filter_map(|line| line.split_once(' ')).collect();
        let ids = fibers.iter().map(|(id, _)| id.parse::<u64>().unwrap());
        assert!(fibers.len() == 2 && ids.is_sorted(), "{text}");
        let mut runs = fibers
            .iter()
            .map(|(_, is)| is.starts_with("'unnamed' runs, spawned at"));
        assert!(
            lines[3].starts_with("    fiber ") && runs.any(|is| is),
            "{text}"
        );
        let reader = lines
            .iter()
            .position(|line| line.contains("'reader' waits for"));
        let reader = reader.expect("the reader");
        assert!(lines[reader].contains("(Recv) at "), "{text}");
        assert!(lines[reader].contains("dumps.rs"), "{text}");
        assert!(lines[reader].contains(" bytes of stack ("), "{text}");
        assert!(lines[reader].ends_with(" touched)"), "{text}");
        let object = lines[reader + 1];
        assert!(
            object.starts_with("      for channel 'letters' at 0x"),
            "{text}"
        );
        assert!(
            object.ends_with(": 0 of 1 values, 0 send, 1 receive"),
            "{text}"
        );
        drop(tx);
        fiber.join().unwrap();
    });
}

/// Control characters in names are escaped: none ends a line, or reaches a terminal.
// Proves: P4.
#[test]
fn names_forge_no_lines() {
    alone(|| {
        let (tx, rx) = channel::bounded::<u8>(1);
        name_object(&tx, "let\u{1b}[2Jters\n    fiber 7 'forged'");
        let odd = "read\u{1b}[2Jer\n    fiber 8 'forged'";
        let fiber = named(odd, move || _ = rx.recv());
        pirn::yield_now();
        let mut text = Vec::new();
        pirn::runtime::Handle::current().dump(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(!text.contains('\u{1b}'), "{text:?}");
        let fibers = text.lines().filter(|line| line.starts_with("    fiber "));
        assert_eq!(fibers.count(), 2, "{text}");
        for name in ["'let\\u{1b}[2Jters\\u{a} ", "'read\\u{1b}[2Jer\\u{a} "] {
            assert!(text.contains(name), "{text}");
        }
        drop(tx);
        fiber.join().unwrap();
    });
}

/// P4. Fibers that a shutdown had to leave are reported with the reason of their wait.
#[test]
fn a_shutdown_reports_what_it_leaves() {
    for (scheduler, workers) in
        SCHEDULERS.into_iter().flat_map(|s| [1, 4].map(|n| (s, n)))
    {
        let runtime = shaped(workers, scheduler);
        let mutex = Arc::new(Mutex::new(()));
        name_object(&*mutex, "vault");
        let guard = mutex.lock();
        let theirs = Arc::clone(&mutex);
        let fiber = runtime.enter(|| named("stuck", move || drop(theirs.lock())));
        waiting(&runtime, "stuck");
        let left = runtime.shutdown(Duration::from_millis(1)).unwrap_err();
        let [stuck] = left.fibers() else {
            panic!("{left}");
        };
        assert_eq!(stuck.name.as_deref(), Some("stuck"));
        assert_eq!(stuck.reason, Some(Reason::Mutex));
        assert_eq!(stuck.waits_for.as_ref().unwrap().name, Some("vault"));
        assert!(left.to_string().contains("mutex 'vault'"), "{left}");
        drop(guard);
        fiber.join().unwrap();
    }
}

/// Reports are the same from inside and from outside, from many fibers at once, and change the
/// state of no fiber.
// Proves: P4.
#[test]
fn reports_from_everywhere_at_once() {
    on_every_shape(|runtime| {
        let (tx, rx) = channel::bounded::<u8>(0);
        let parked: Vec<_> = (0..10)
            .map(|_| {
                let rx = rx.clone();
                runtime.spawn(move || _ = rx.recv())
            })
            .collect();
        eventually("they wait", || {
            let fibers = runtime.fibers();
            fibers
                .iter()
                .filter(|fiber| fiber.state == State::Parked)
                .count()
                == 10
        });
        runtime.scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for _ in 0..5 {
                        let fibers = pirn::runtime::Handle::current().fibers();
                        let own = spawn::current().id();
                        let found = fibers.iter().find(|fiber| fiber.id == own);
                        assert_eq!(found.expect("itself").state, State::Running);
                        pirn::yield_now();
                    }
                });
            }
        });
        drop(tx);
        for fiber in parked {
            fiber.join().unwrap();
        }
    });
}

/// Objects are created and dropped, locks acquired and released, fibers wait and resume, while
/// reports are made all the time: no freed object is read.
// Proves: P4.
#[test]
fn reports_amid_a_storm() {
    let runtime = runtime(3);
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    let fibers = runtime.fibers();
                    fibers.iter().for_each(|fiber| drop(format!("{fiber:?}")));
                    drop(runtime.dump(&mut io::sink()));
                }
            });
        }
        runtime.scope(|s| {
            for seed in 0..12_u64 {
                s.spawn(move || churn(seed, crate::util::scaled(300)));
            }
        });
        stop.store(true, Ordering::SeqCst);
    });
}

/// Waits for objects that live on the stack or the heap for one wait only.
fn churn(seed: u64, rounds: usize) {
    for round in 0..rounds {
        match (seed as usize + round) % 4 {
            0 => {
                let (tx, rx) = channel::bounded(0);
                let sender = spawn(move || _ = tx.send(Box::new(round)));
                _ = rx.recv();
                sender.join().unwrap();
            }
            1 => {
                let mutex = Box::new(Mutex::new(0));
                pirn::scope(|s| {
                    let guard = mutex.lock();
                    s.spawn(|| *mutex.lock() += 1);
                    pirn::yield_now();
                    drop(guard);
                });
            }
            2 => {
                let (tx, rx) = channel::oneshot::channel();
                let (_quiet, never) = channel::bounded::<u8>(1);
                let sender = spawn(move || _ = tx.send(1));
                select! {
                    recv(rx) -> value => _ = value,
                    recv(never) -> value => _ = value,
                };
                sender.join().unwrap();
            }
            _ => {
                let event = Event::manual();
                pirn::scope(|s| {
                    s.spawn(|| _ = event.wait());
                    pirn::yield_now();
                    event.set();
                });
            }
        }
    }
}

/// Each request by a signal writes a dump, and the program continues.
// Proves: P4.
#[test]
#[cfg_attr(pirn_tsan, ignore = "the sanitizer holds signals back")]
fn a_signal_asks_for_a_dump() {
    const NAME: &str = "dumps::a_signal_asks_for_a_dump";
    if is_again(NAME) {
        own_id();
        pirn::diag::dump_on_quit().unwrap();
        pirn::diag::dump_on_quit().unwrap();
        let runtime = runtime(2);
        let fiber = runtime.enter(|| named("patient", pirn::park));
        waiting(&runtime, "patient");
        eprintln!("ready");
        // A dump does not wait for the lock of `std`.
        let _stderr = io::stderr().lock();
        io::read_to_string(io::stdin()).unwrap();
        fiber.fiber().unpark();
        return fiber.join().unwrap();
    }
    let directory = Directory::new();
    let path = directory.at("stderr");
    let mut command = again(NAME, &[]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command
        .stderr(File::create(&path).unwrap())
        .spawn()
        .unwrap();
    let text = || fs::read_to_string(&path).unwrap();
    eventually("its fiber waits", || text().contains("ready"));
    for n in 1..=2 {
        crate::signals::send_to(child.id(), "-QUIT");
        eventually("a dump", || {
            text().matches("'patient' waits for").count() == n
        });
    }
    drop(child.stdin.take());
    eventually("it ends", || child.try_wait().unwrap().is_some());
    let (status, text) = (child.wait().unwrap(), text());
    assert!(status.success(), "{status}: {text}");
    assert!(text.contains("(Park) at "), "{text}");
    assert!(text.contains("does not wait here"), "{text}");
}

//! The trace of a run: each run of a fiber is there once, and each wake is connected with its
//! waker.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pirn::Runtime;
use pirn::channel;
use pirn::spawn::Builder;

use crate::trace_format::check;
use crate::util::{SCHEDULERS, apart, eventually, scaled};

fn file(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    directory.join(format!("{name}-{}.json", std::process::id()))
}

/// Some of everything: fibers that communicate, yield, sleep and end.
fn work(runtime: &Runtime) {
    runtime.scope(|s| {
        let (tx, rx) = channel::bounded(2);
        for _ in 0..8 {
            let tx = tx.clone();
            s.spawn(move || {
                for n in 0..10 {
                    tx.send(n).unwrap();
                    pirn::yield_now();
                }
            });
        }
        drop(tx);
        s.spawn(move || {
            assert_eq!(rx.iter().count(), 80);
        });
        s.spawn(|| {
            for _ in 0..400 {
                drop(pirn::spawn(|| ()));
            }
        });
        s.spawn(|| pirn::sleep(std::time::Duration::from_millis(2)).unwrap());
    });
    runtime.wait_idle().unwrap();
}

/// One slice for each dispatch, on its worker, and each fiber's last one ends with its
/// end.
// Proves: P3.
#[test]
fn every_run_of_a_fiber_is_a_slice() {
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 4, 8] {
            let path = file("slices");
            let builder = Runtime::builder().workers(workers).scheduler(scheduler);
            // No standby workers, however slow the machine is: a track for each worker.
            let builder = builder.max_threads(workers);
            let runtime = builder.trace(&path).build().unwrap();
            work(&runtime);
            let metrics = runtime.metrics();
            drop(runtime);
            let mut trace = check(&fs::read_to_string(&path).unwrap());
            fs::remove_file(&path).unwrap();
            assert_eq!(trace.lost, 0);
            assert_eq!(trace.threads.len(), workers + 1);
            let outside = trace.slices.remove(&(workers as u64)).unwrap_or_default();
            assert!(outside.iter().all(|slice| slice.until == "spawn"));
            for worker in &metrics.workers {
                let slices = trace.slices.get(&(worker.index as u64));
                let slices = slices.map_or(0, Vec::len);
                assert_eq!(slices as u64, worker.counters.dispatched, "{workers}");
            }
            let all = || trace.slices.values().flatten();
            let ended = all().filter(|slice| slice.until == "end").count();
            assert_eq!(ended as u64, metrics.total.completed);
            let fibers: HashSet<_> = all().map(|slice| &slice.fiber).collect();
            assert_eq!(fibers.len() as u64, metrics.total.spawned);
            for reason in ["yield", "Sleep"] {
                assert!(all().any(|slice| slice.until == reason), "no {reason}");
            }
            assert!(trace.arrows.iter().any(|(_, _, name)| name == "spawn"));
            assert!(trace.arrows.iter().any(|(_, _, name)| name == "wake"));
        }
    }
}

/// An arrow leads from the waker to a woken fiber, and slices have the names of fibers, with any
/// characters in them.
// Proves: O11, P3.
#[test]
fn names_and_arrows() {
    let path = file("names");
    let runtime = Runtime::builder().workers(1).trace(&path).build().unwrap();
    let odd = "a \"fiber\"\\\n\u{1}é";
    runtime.run(|| {
        let sleeper = Builder::new().name(odd).spawn(pirn::park).unwrap();
        pirn::yield_now();
        sleeper.fiber().unpark();
        sleeper.join().unwrap();
    });
    drop(runtime);
    let trace = check(&fs::read_to_string(&path).unwrap());
    fs::remove_file(&path).unwrap();
    let named: Vec<_> = trace.slices[&0]
        .iter()
        .filter(|slice| slice.name == odd)
        .map(|slice| slice.until.as_str())
        .collect();
    assert_eq!(named, ["Park", "end"]);
    let fiber = |is_sleeper: bool| {
        let mut slices = trace.slices[&0].iter();
        let found = slices.find(|slice| (slice.name == odd) == is_sleeper);
        &found.expect("it has run").fiber
    };
    let (sleeper, joiner) = (fiber(true), fiber(false));
    let wakes = || trace.arrows.iter().filter(|(.., name)| name == "wake");
    assert_eq!(wakes().count(), 2);
    for (waker, woken) in [(joiner, sleeper), (sleeper, joiner)] {
        let leads =
            wakes().any(|(from, to, _)| from.contains(waker) && to.contains(woken));
        assert!(leads, "from {waker} to {woken}: {:?}", trace.arrows);
    }
}

/// The names of the last fibers are kept, as their events are.
// Proves: P3.
#[test]
#[cfg_attr(pirn_tsan, ignore = "a trace takes half a minute there")]
fn recent_names_are_kept() {
    // More than a worker keeps.
    const EARLY: usize = 70_000;
    let path = file("recent");
    let builder = Runtime::builder().workers(1).max_threads(1).trace(&path);
    let runtime = builder.build().unwrap();
    runtime.run(|| {
        let run = |name: &str| {
            let fiber = Builder::new().name(name).spawn(|| ());
            fiber.unwrap().join().unwrap();
        };
        (0..EARLY).for_each(|_| run("early"));
        run("late");
    });
    drop(runtime);
    let written = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(written.contains("\"early\"") && written.contains("\"late\""));
}

/// The trace can be requested while the runtime runs, any number of times: it is complete each
/// time, also when events are overwritten meanwhile.
// Proves: P3.
#[test]
fn a_trace_of_a_running_runtime_is_whole() {
    let path = file("running");
    let runtime = Runtime::builder().workers(2).trace(&path).build().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    for _ in 0..4 {
        let stop = Arc::clone(&stop);
        runtime.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                pirn::yield_now();
            }
        });
    }
    let mut lost = 0;
    // A thread sanitizer takes half a minute to write 20,000. There the ring is not full by then;
    // the fibers write into it while it is read.
    let events = if cfg!(pirn_tsan) { 2_000 } else { 200_000 };
    for _ in 0..scaled(2) {
        eventually("many events come", || {
            runtime.metrics().total.dispatched > lost + events
        });
        let mut out = Vec::new();
        runtime.write_trace(&mut out).unwrap();
        assert!(out.ends_with(b"\n]}\n"), "it was cut off");
        // A thread sanitizer takes half a minute to read it; a race would be in the writing.
        if cfg!(pirn_tsan) {
            continue;
        }
        let trace = check(std::str::from_utf8(&out).unwrap());
        assert!(trace.lost > lost, "the ring has been round once more");
        lost = trace.lost;
    }
    stop.store(true, Ordering::Relaxed);
    drop(runtime);
    let written = fs::read_to_string(&path).unwrap();
    if !cfg!(pirn_tsan) {
        check(&written);
    }
    fs::remove_file(&path).unwrap();
}

/// A runtime that keeps no events reports that.
#[test]
fn no_trace_where_none_is_kept() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let refused = runtime.write_trace(&mut Vec::new()).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::Unsupported);
}

/// The default runtime ends with the process, and its trace is written then; a second runtime
/// does not write to the same file.
// Proves: P3.
#[test]
fn the_environment_asks_for_a_trace() {
    let path = file("environment");
    let name = path.to_str().unwrap().to_owned();
    let variables = [("PIRN_TRACE", name.as_str()), ("PIRN_WORKERS", "2")];
    let test = "trace::the_environment_asks_for_a_trace";
    let ended = apart(test, &variables, || {
        pirn::run(|| pirn::spawn(|| 1).join().unwrap());
        let second = Runtime::new().unwrap();
        second.run(|| ());
        drop(second);
        // Like `exit` in a program: destructors do not run.
        std::process::exit(3);
    });
    let Some(ended) = ended else { return };
    assert_eq!(ended.status.code(), Some(3), "{}", ended.stderr);
    let second = PathBuf::from(format!("{name}.2"));
    for path in [path, second] {
        let trace = check(&fs::read_to_string(&path).unwrap());
        assert!(trace.slices.values().map(Vec::len).sum::<usize>() > 0);
        fs::remove_file(&path).unwrap();
    }
}

/// An unwritable path is an error when the runtime is built; a disk that is full later costs the
/// trace, and nothing else.
// Proves: P3.
#[test]
fn a_trace_that_cannot_be_written() {
    let nowhere = "no-such-directory/trace.json";
    let refused = Runtime::builder().workers(1).trace(nowhere).build();
    let said = refused.unwrap_err().to_string();
    assert!(said.contains(nowhere), "{said}");

    let test = "trace::a_trace_that_cannot_be_written";
    let full = [("PIRN_TRACE", "/dev/full")];
    let part = || {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        assert_eq!(runtime.run(|| 7), 7);
        drop(runtime);
        std::process::exit(5);
    };
    let Some(ended) = apart(test, &full, part) else {
        return;
    };
    assert_eq!(ended.status.code(), Some(5), "{}", ended.stderr);
    let said = "the trace could not be written to /dev/full";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
}

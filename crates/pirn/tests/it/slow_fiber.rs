//! A fiber that keeps running while others wait for its worker is named, once for each time.

use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn::channel;
use pirn::runtime::Handle;
use pirn::spawn::Builder;

use crate::util::{Ended, apart, compute_until, eventually};

const THRESHOLD: Duration = Duration::from_millis(100);

/// How often a slow fiber was reported.
fn reports() -> u64 {
    Handle::current().metrics().slow_fibers
}

/// Computes for a duration.
fn spin(length: Duration) {
    let start = Instant::now();
    compute_until("time passes", || start.elapsed() >= length);
}

/// Starts a fiber that is always ready, on the worker of the calling fiber.
fn neighbor(stop: &Arc<AtomicBool>) {
    let (tx, rx) = channel::bounded::<ThreadId>(1);
    loop {
        let (tx, stop) = (tx.clone(), Arc::clone(stop));
        pirn::spawn(move || {
            tx.send(thread::current().id()).unwrap();
            while !stop.load(Ordering::Relaxed) {
                pirn::yield_now();
            }
        });
        if rx.recv() == Ok(thread::current().id()) {
            return;
        }
    }
}

fn lines(ended: &Ended) -> Vec<&str> {
    let lines = ended.stderr.lines();
    lines
        .filter(|line| line.contains("has kept worker"))
        .collect()
}

/// Others wait while one fiber spins for 300 ms: it is named once, with the duration; when it
/// does so again a second later, it is named with both.
// Settled: a fiber that may migrate does not wait behind it.
// Proves: P5.
#[cfg(not(pirn_free))]
#[test]
fn a_fiber_that_holds_others_up_is_named_once() {
    let name = "slow_fiber::a_fiber_that_holds_others_up_is_named_once";
    for workers in ["1", "2", "4"] {
        let set = [("PIRN_WORKERS", workers), ("PIRN_SLOW_FIBER", "100")];
        let ended = apart(name, &set, || {
            let runtime = Runtime::builder().build().unwrap();
            let stop = Arc::new(AtomicBool::new(false));
            let hog = runtime.run(|| {
                let body = move || {
                    neighbor(&stop);
                    for episode in 1..=2 {
                        let start = Instant::now();
                        while episode == 2 && start.elapsed() < Duration::from_secs(1) {
                            pirn::yield_now();
                        }
                        let start = Instant::now();
                        // The run counts from its dispatch, which must not be before `start`.
                        pirn::yield_now();
                        compute_until("it is seen", || reports() == episode);
                        assert!(start.elapsed() >= THRESHOLD);
                        spin(Duration::from_millis(300));
                        assert_eq!(reports(), episode, "once each time");
                        pirn::yield_now();
                    }
                    stop.store(true, Ordering::Relaxed);
                };
                Builder::new().name("hog").spawn(body).unwrap()
            });
            hog.join().unwrap();
            drop(runtime);
            exit(0);
        });
        let Some(ended) = ended else { return };
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
        let said = lines(&ended);
        assert_eq!(said.len(), 2, "{}", ended.stderr);
        for line in &said {
            assert!(line.contains("'hog' (spawned at "), "{line}");
            assert!(line.contains("slow_fiber.rs:"), "{line}");
            assert!(
                line.contains("started fibers behind it: at least "),
                "{line}"
            );
        }
        assert!(
            said[1].contains("spawned there so far: 2,"),
            "{}",
            ended.stderr
        );
        let ends = ended
            .stderr
            .lines()
            .filter(|line| line.contains(" go after "));
        let lengths = ends.map(|line| {
            let length = line.rsplit(' ').nth(1).expect("a number");
            length.parse::<u64>().expect("a number")
        });
        let lengths: Vec<u64> = lengths.collect();
        assert!(!lengths.is_empty(), "{}", ended.stderr);
        assert!(lengths.iter().all(|ms| *ms >= 300), "{}", ended.stderr);
    }
}

/// A fiber woken from outside waits in the inbox, and counts too.
// Proves: P5.
#[test]
fn woken_fibers_count() {
    let builder = Runtime::builder().workers(1).slow_fiber(Some(THRESHOLD));
    let runtime = builder.build().unwrap();
    let (tx, rx) = channel::bounded::<()>(0);
    let reader = runtime.spawn(move || rx.recv());
    eventually("it waits", || runtime.metrics().total.fiber_parks == 1);
    let handle = runtime.handle();
    let (started, starts) = std::sync::mpsc::channel();
    let hog = runtime.spawn(move || {
        started.send(()).unwrap();
        compute_until("it is seen", || handle.metrics().slow_fibers == 1);
    });
    starts.recv().unwrap();
    tx.send(()).unwrap();
    hog.join().unwrap();
    assert_eq!(reader.join().unwrap(), Ok(()));
    assert_eq!(runtime.metrics().slow_fibers, 1);
}

/// No fiber is named that delays no other, or that yields, and no sleeping worker.
// Proves: P5-quiet.
#[test]
fn no_other_is_named() {
    // Longer than a busy machine keeps a thread from running.
    let long = 4 * THRESHOLD;
    let builder = Runtime::builder().workers(1).slow_fiber(Some(long));
    let runtime = builder.build().unwrap();
    // Alone.
    runtime.run(|| spin(2 * long));
    assert_eq!(runtime.metrics().slow_fibers, 0, "alone");
    // Beside others, with a yield now and then.
    runtime.scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                for _ in 0..100 {
                    spin(long / 100);
                    pirn::yield_now();
                }
            });
        }
    });
    // All asleep.
    runtime.run(|| pirn::sleep(2 * long).unwrap());
    assert_eq!(runtime.metrics().slow_fibers, 0, "asleep");
    assert_eq!(runtime.metrics().total.rescues, 0);
}

/// A threshold of zero is an error.
#[test]
fn no_time_is_no_threshold() {
    let refused = Runtime::builder().slow_fiber(Some(Duration::ZERO)).build();
    let said = refused.unwrap_err().to_string();
    assert!(said.contains("slow_fiber is 0"), "{said}");
}

//! Where fibers start that were placed on workers that do not start them.
// Under ThreadSanitizer a worker that has just been woken seems stuck, too.
#![cfg(not(any(pirn_free, pirn_tsan)))]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pirn::channel;
use pirn::runtime::Builder;

use crate::spread::Seen;
use crate::util::{compute_until, eventually};

/// A worker that starts a thread for each of many fibers does not blame the fiber that has run
/// before.
// Proves: E2-lines.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_handing_on_is_no_hold() {
    let runtime = Builder::new().workers(2).build().expect("a runtime starts");
    let burst = |fibers: usize| {
        pirn::scope(|s| {
            for _ in 0..fibers {
                s.spawn(|| thread::sleep(Duration::from_millis(30)));
            }
        });
    };
    let line = line!() + 3;
    for fibers in [4, 4, 400, 400] {
        // After the first round its fibers are known to block.
        runtime.spawn(move || burst(fibers)).join().unwrap();
    }
    let lines = runtime.spawn_lines();
    let spawners = lines.iter().filter(|it| it.location.line() == line);
    assert_eq!(spawners.map(|it| it.held).sum::<u64>(), 0);
}

/// Fibers that were placed on two workers, which then compute for long, are divided between the two
/// others: the one that finds them does not keep them all.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_fibers_of_stuck_workers_are_spread() {
    const FIBERS: usize = 16;
    let runs = (0..20).map(|_| {
        let seen = Seen::default();
        let (stop, computing) = (AtomicBool::new(false), AtomicUsize::new(0));
        let builder = Builder::new().workers(4).max_threads(4);
        let runtime = builder.build().expect("a runtime starts");
        let (end, rx) = channel::bounded::<()>(0);
        runtime.scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    computing.fetch_add(1, Ordering::SeqCst);
                    compute_until("the end", || stop.load(Ordering::SeqCst));
                });
            }
            eventually("two compute", || computing.load(Ordering::SeqCst) == 2);
            for _ in 0..FIBERS {
                let (seen, rx) = (seen.clone(), rx.clone());
                s.spawn(move || {
                    seen.note();
                    let _ = rx.recv();
                });
            }
            eventually("all fibers start", || seen.count() == FIBERS);
            stop.store(true, Ordering::SeqCst);
            drop(end);
        });
        seen.shares()[0]
    });
    let mut most: Vec<_> = runs.collect();
    most.sort_unstable();
    // Nine of ten runs: a worker that the system delays for 4 ms seems stuck, too.
    assert!(
        most[17] <= FIBERS * 5 / 8,
        "{most:?} of {FIBERS} fibers on one of two workers"
    );
}

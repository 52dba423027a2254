//! Reports a run that does not come to its next choice.
//!
//! Such a run holds the only worker, so nothing in its runtime can end it: a loop without an
//! operation of the library, or a lock of `std` that one fiber holds at a choice and another takes.
//! A plain thread looks at the count of choices, and ends the process.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The progress of the runs on one thread. Written by their worker, read by the watchdog.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    /// Choices and runs so far.
    beats: AtomicU64,
    /// The seed of the present run.
    seed: AtomicU64,
    /// A run is in progress.
    is_running: AtomicBool,
}

impl Pulse {
    /// A run begins.
    pub(crate) fn begin(&self, seed: u64) {
        // ORDERING: Relaxed: for a report only.
        self.seed.store(seed, Ordering::Relaxed);
        // ORDERING: Relaxed: as for the beats.
        self.is_running.store(true, Ordering::Relaxed);
        self.beat();
    }

    /// The run has ended.
    pub(crate) fn end(&self) {
        // ORDERING: Relaxed: as for the beats.
        self.is_running.store(false, Ordering::Relaxed);
    }

    /// A choice is made.
    pub(crate) fn beat(&self) {
        // ORDERING: Relaxed: one thread writes, and only changes matter.
        let beats = self.beats.load(Ordering::Relaxed) + 1;
        self.beats.store(beats, Ordering::Relaxed);
    }
}

/// A thread that ends the process if the pulse stops. Dropping this ends the thread.
pub(crate) struct Watchdog {
    end: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// # Panics
    /// If the system does not start a thread.
    pub(crate) fn new(test: String, pulse: Arc<Pulse>, limit: Duration) -> Watchdog {
        let end = Arc::new((Mutex::new(false), Condvar::new()));
        let seen = Arc::clone(&end);
        let watch = move || watch(&test, &pulse, limit, &seen);
        let thread = thread::Builder::new()
            .name("pirn-sim watchdog".to_owned())
            .spawn(watch);
        let thread =
            thread.unwrap_or_else(|error| panic!("pirn-sim: no thread: {error}"));
        Watchdog {
            end,
            thread: Some(thread),
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        *self.end.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.end.1.notify_one();
        if let Some(thread) = self.thread.take() {
            // It has no panic to pass on.
            drop(thread.join());
        }
    }
}

/// Looks ten times in each `limit`, until `end`.
fn watch(test: &str, pulse: &Pulse, limit: Duration, end: &(Mutex<bool>, Condvar)) {
    // ORDERING: Relaxed: see `Pulse`.
    let beats = || pulse.beats.load(Ordering::Relaxed);
    let (mut last, mut since) = (beats(), Instant::now());
    let mut ended = end.0.lock().unwrap_or_else(PoisonError::into_inner);
    let mut is_suspect = false;
    while !*ended {
        let waited = end.1.wait_timeout(ended, limit / 10);
        ended = waited.unwrap_or_else(PoisonError::into_inner).0;
        let now = beats();
        // ORDERING: Relaxed: see `Pulse`.
        if now != last || !pulse.is_running.load(Ordering::Relaxed) {
            (last, since, is_suspect) = (now, Instant::now(), false);
        } else if since.elapsed() >= limit && !*ended {
            // One more look: the whole process may have been stopped.
            if is_suspect {
                // ORDERING: Relaxed: see `Pulse`.
                give_up(test, pulse.seed.load(Ordering::Relaxed), limit);
            }
            is_suspect = true;
        }
    }
}

/// Prints what is known of the run, and ends the process: the worker cannot be ended.
fn give_up(test: &str, seed: u64, limit: Duration) -> ! {
    let mut text = String::new();
    _ = writeln!(
        text,
        "pirn-sim: {test}: a run has not come to its next choice for {limit:?} \
         (PIRN_SIM_SEED={seed} PIRN_SIM_RUNS=1)\n  it loops without an operation of pirn, or takes a \
         lock of `std` that another of its fibers holds: use the locks of pirn, call \
         `pirn_sim::point` in the loop, or raise `Campaign::stuck_limit`"
    );
    let mut dump = Vec::new();
    if pirn::diag::dump(&mut dump).is_ok() {
        text.push_str(&String::from_utf8_lossy(&dump));
    }
    // Not by a macro: that text would be captured by the test harness, and lost.
    drop(io::stderr().write_all(text.as_bytes()));
    process::exit(124);
}

//! Reports a run that does not come to its next choice, or that aborts the process.
//!
//! Such a run holds the only worker, so nothing in its runtime can end it: a loop without an
//! operation of the library, or a lock of `std` that one fiber holds at a choice and another takes.
//! A plain thread looks at the count of choices, and ends the process.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::trace::Trace;

/// The progress of the runs on one thread. Written by their worker, read by the watchdog.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    /// The test, and the place of its campaign.
    test: String,
    /// Choices and runs so far.
    beats: AtomicU64,
    /// A run is in progress.
    is_running: AtomicBool,
    /// How the present run is repeated.
    repeat: Mutex<Repeat>,
    /// The failure that the campaign has found, if any: described without another run. The threads
    /// of a campaign share it.
    found: Arc<Mutex<Option<String>>>,
}

/// How a run is repeated.
#[derive(Debug, Clone)]
pub(crate) enum Repeat {
    /// By its seed and the same strategy.
    Seed(u64),
    /// It depends on the runs before it, from this seed on.
    All(u64),
    /// By the trace that it follows.
    Trace(Trace),
}

impl Default for Repeat {
    fn default() -> Repeat {
        Repeat::Seed(0)
    }
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repeat::Seed(seed) => write!(f, "PIRN_SIM_SEED={seed} PIRN_SIM_RUNS=1"),
            Repeat::All(first) => {
                write!(f, "PIRN_SIM_SEED={first} with all runs of the campaign")
            }
            Repeat::Trace(trace) => write!(f, "PIRN_SIM_TRACE='{trace}'"),
        }
    }
}

impl Pulse {
    pub(crate) fn new(test: String) -> Pulse {
        Pulse {
            test,
            ..Pulse::default()
        }
    }

    /// Returns a pulse for another thread of the same campaign.
    pub(crate) fn another(&self) -> Pulse {
        Pulse {
            found: Arc::clone(&self.found),
            ..Pulse::new(self.test.clone())
        }
    }

    /// Keeps the description of a failure, for the case that a later run has no end.
    pub(crate) fn found(&self, failure: String) {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
    }

    /// Prints the panics of a run that end the process: no report follows.
    pub(crate) fn abort(&self, why: &str, panics: &[String]) {
        let repeat = self.repeat.lock().unwrap_or_else(PoisonError::into_inner);
        let test = &self.test;
        let mut text =
            format!("pirn-sim: {test}: a run ends the process: {why} ({repeat})\n");
        for panic in panics {
            _ = writeln!(text, "  panicked: {panic}");
        }
        self.print(text);
    }

    /// Prints `text`, and the failure that the campaign has found before, if any.
    fn print(&self, mut text: String) {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = &*found {
            _ = writeln!(
                text,
                "  before it the campaign has found a failure, which is not shrunk: {found}"
            );
        }
        // Not by a macro: that text would be captured by the test harness, and lost.
        drop(io::stderr().write_all(text.as_bytes()));
    }

    /// A run begins.
    pub(crate) fn begin(&self, repeat: Repeat) {
        *self.repeat.lock().unwrap_or_else(PoisonError::into_inner) = repeat;
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
    pub(crate) fn new(pulse: Arc<Pulse>, limit: Duration) -> Watchdog {
        let end = Arc::new((Mutex::new(false), Condvar::new()));
        let seen = Arc::clone(&end);
        let watch = move || watch(&pulse, limit, &seen);
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
fn watch(pulse: &Pulse, limit: Duration, end: &(Mutex<bool>, Condvar)) {
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
                give_up(pulse, limit);
            }
            is_suspect = true;
        }
    }
}

/// Prints what is known of the run, and ends the process: the worker cannot be ended.
fn give_up(pulse: &Pulse, limit: Duration) -> ! {
    let test = &pulse.test;
    let mut text = String::new();
    let repeat = pulse.repeat.lock().unwrap_or_else(PoisonError::into_inner);
    _ = writeln!(
        text,
        "pirn-sim: {test}: a run has not come to its next choice for {limit:?} ({repeat})\n  it loops \
         without an operation of pirn, or takes a lock of `std` that another of its fibers holds: \
         use the locks of pirn, call `pirn_sim::point` in the loop, or raise \
         `Campaign::stuck_limit`"
    );
    pulse.print(text);
    let mut dump = Vec::new();
    if pirn::diag::dump(&mut dump).is_ok() {
        drop(io::stderr().write_all(&dump));
    }
    process::exit(124);
}

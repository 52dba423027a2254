//! The report of a stall: which fiber, since when, why, which fibers wait, and the remedy.

use std::backtrace::Backtrace;
use std::fmt::{self, Write};
use std::panic::Location;

use super::cause::Cause;
use super::lines::Line;
use super::sample;
use crate::base::name::Name;
use crate::report::frames::Sampled;
use crate::sched::pool::shared::Pool;
use crate::sys::sample::Sample;
use crate::sys::{self, call_name, is_futex};

/// A stall, with the data for its reports.
#[derive(Debug)]
pub(super) struct Stall {
    pub(super) id: u64,
    pub(super) place: &'static Location<'static>,
    pub(super) name: Option<String>,
    pub(super) cause: Cause,
    /// A report on it has been written.
    pub(super) reported: bool,
}

/// Writes the first report on a spawn line. `ran` and `held` are in nanoseconds: how long the fiber
/// has run, and how long the first of `fibers` has waited.
pub(super) fn first(
    pool: &Pool,
    worker: usize,
    stall: &Stall,
    ran: u64,
    held: u64,
    fibers: usize,
) {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "pirn: {stall} has kept worker {worker} of '{}' for {} ms: it {}; \
         started fibers behind it: at least {fibers}, waiting for {} ms\n  {}",
        Name(pool.name()),
        millis(ran.max(held)),
        stall.cause,
        millis(held),
        stall.cause.remedy(),
    );
    sys::report(&text);
}

/// Writes a later report on a spawn line, with the totals of `line`. `held` is how long fibers
/// have waited in this stall, in nanoseconds.
pub(super) fn totals(
    pool: &Pool,
    worker: usize,
    stall: &Stall,
    held: u64,
    fibers: usize,
    line: &Line,
) {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "pirn: {stall} has kept worker {worker} of '{}' for {} ms: it {}; \
         started fibers behind it: at least {fibers}; stalls of fibers spawned there so far: {}, \
         the longest {} ms, {} ms together",
        Name(pool.name()),
        millis(held),
        stall.cause,
        line.stalls,
        millis(line.longest),
        millis(line.nanos + held),
    );
    sys::report(&text);
}

/// Writes that a reported stall has ended, and after how many nanoseconds (`lasted`).
pub(super) fn end(pool: &Pool, worker: usize, stall: &Stall, lasted: u64) {
    sys::report(&format!(
        "pirn: {stall} has let worker {worker} of '{}' go after {} ms\n",
        Name(pool.name()),
        millis(lasted),
    ));
}

/// Where the fiber of a stall was, and the text for it.
#[derive(Debug)]
pub(super) struct Place {
    /// The fiber and its worker.
    what: String,
    frames: Option<Backtrace>,
    /// Other fibers that have started on that worker.
    others: usize,
}

impl Place {
    pub(super) fn of(pool: &Pool, worker: usize, stall: &Stall, asked: &Sample) -> Place {
        Place {
            what: format!("{stall} on worker {worker} of '{}'", Name(pool.name())),
            frames: sample::frames(asked),
            others: pool.settled(worker).saturating_sub(1),
        }
    }

    /// Writes the frames of the fiber. Slow: looks up the names of functions in the debug
    /// information.
    pub(super) fn report(&self) {
        let lines = self.lines();
        if self.write_locked(&lines) || lines.is_empty() {
            return;
        }
        sys::report(&format!(
            "pirn: where {} was:\n{}",
            self.what,
            listed(&lines)
        ));
    }

    /// As [`report`](Self::report), if the thread waits for a lock; else returns false.
    pub(super) fn report_if_locked(&self) -> bool {
        self.write_locked(&self.lines())
    }

    fn write_locked(&self, lines: &[String]) -> bool {
        let Some(lock) = lines.iter().find(|line| is_lock(line)) else {
            return false;
        };
        let lock = lock.split(' ').next().unwrap_or_default();
        sys::report(&format!(
            "pirn: {} waits for a lock, in {lock}, while {} other fibers that have started there \
             wait; if one of them holds it, this worker cannot continue\n  use locks of pirn::sync, \
             or do not wait while a lock of std is held\n{}",
            self.what,
            self.others,
            listed(lines),
        ));
        true
    }

    fn lines(&self) -> Vec<String> {
        let frames = self.frames.as_ref();
        frames.map_or_else(Vec::new, |frames| Sampled(frames).lines())
    }
}

/// The most frames in a report. Arbitrary: a screen.
const SHOWN: usize = 24;

fn listed(lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines.iter().take(SHOWN) {
        let _ = writeln!(text, "        {line}");
    }
    if lines.len() > SHOWN {
        let _ = writeln!(text, "        and {} more", lines.len() - SHOWN);
    }
    text
}

/// True if the function of a frame waits for a lock of `std`, of `parking_lot` or of the C library.
fn is_lock(line: &str) -> bool {
    const WAITS: [&str; 7] = [
        "::lock_contended",
        "::read_contended",
        "::write_contended",
        "::lock_slow",
        "::lock_shared_slow",
        "::lock_exclusive_slow",
        "pthread_mutex_lock",
    ];
    WAITS.iter().any(|wait| line.contains(wait))
}

fn millis(nanos: u64) -> u64 {
    nanos / 1_000_000
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fiber {}", self.id)?;
        if let Some(name) = &self.name {
            write!(f, " '{:.128}'", Name(name))?;
        }
        write!(f, " (spawned at {})", self.place)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Computes => f.write_str("computes"),
            Cause::Blocks(None) => f.write_str("blocks its thread in a system call"),
            Cause::Blocks(Some(call)) => {
                write!(f, "blocks its thread in {}", call_name(*call))
            }
            Cause::Unknown => f.write_str("computes, or blocks its thread"),
        }
    }
}

impl Cause {
    /// Returns how to avoid such a stall.
    fn remedy(self) -> &'static str {
        match self {
            Cause::Computes => {
                "for long computations use pirn::compute, pirn::spawn::checkpoint in loops, \
                 pirn::par for parallel work, or a pirn::dispatcher::Dispatcher"
            }
            Cause::Blocks(Some(call)) if is_futex(call) => {
                "use the locks and conditions of pirn::sync; if another fiber of this worker holds \
                 a lock of std while it waits, neither can go on; for other waits for threads \
                 use pirn::blocking"
            }
            Cause::Blocks(Some(_)) => {
                "for calls that block use pirn::blocking or a pirn::dispatcher::Dispatcher with \
                 threads of its own; for sleeps, files, sockets and standard streams use those of \
                 pirn"
            }
            Cause::Blocks(None) => {
                "for calls that block use pirn::blocking or a pirn::dispatcher::Dispatcher with \
                 threads of its own; for sleeps, files, sockets and standard streams use those of \
                 pirn; for a lock of std use pirn::sync, or do not wait while it is held"
            }
            Cause::Unknown => {
                "for calls that block use pirn::blocking; for long computations use pirn::compute, \
                 or pirn::spawn::checkpoint in loops"
            }
        }
    }
}

//! What a runtime is asked to tell of itself: the part of [`Builder`] that has a `PIRN_*`
//! variable for each method, and nothing that a program's own work depends on.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::builder::Builder;
use super::environment::{self, Environment};
use crate::observe::{Ending, Inspector, TraceFile};
use crate::sched::events::{LogMask, Watch};
use crate::shim::StaticLock;

/// The default threshold for stall reports: people notice a tenth of a second.
const STALL: Duration = Duration::from_millis(100);

/// What has been set; what has not is the environment's to say.
#[derive(Debug, Default)]
pub(super) struct Watching {
    stats: Option<bool>,
    verbose: Option<bool>,
    trace: Option<PathBuf>,
    log: Option<LogMask>,
    slow: Option<Option<Duration>>,
    signals: Option<bool>,
    assertions: Option<bool>,
    inspect: Option<PathBuf>,
}

impl Builder {
    /// Writes the runtime's [counters](crate::diag::Metrics) to standard error when it ends,
    /// or when the process exits before that. Overrides `PIRN_STATS`, which is 0 or 1.
    pub fn stats_at_exit(mut self, yes: bool) -> Builder {
        self.watching.stats = Some(yes);
        self
    }

    /// Says on standard error what the runtime has decided when it starts (workers, stacks,
    /// scheduler, what is watched) and how it went when it ends. Overrides `PIRN_VERBOSE`,
    /// which is 0 or 1.
    pub fn verbose(mut self, yes: bool) -> Builder {
        self.watching.verbose = Some(yes);
        self
    }

    /// Keeps the last 65,536 events of each worker and writes them to this file when the
    /// runtime ends, or when the process exits before that: when each fiber ran, on which
    /// worker, what it waited for and who woke it, in the trace-event format that
    /// `about:tracing` and Perfetto open. Overrides `PIRN_TRACE`.
    ///
    /// The file is made when the runtime is built. If it cannot be written in full at the end,
    /// that is said on standard error; nothing else changes. With `PIRN_TRACE`, the second
    /// runtime of a process writes to the same name with `.2` after it, and so on.
    ///
    /// Each event reads the clock, and fibers no longer switch to each other but by way of
    /// their worker: together some 50 ns for each switch, and 2.5 MiB for each worker.
    /// [`Handle::write_trace`](super::Handle::write_trace) has the same at any time.
    pub fn trace(mut self, path: impl Into<PathBuf>) -> Builder {
        self.watching.trace = Some(path.into());
        self
    }

    /// Writes a line to standard error for each event of these categories, as it happens.
    /// Overrides `PIRN_LOG`, which has their names with commas between them, or `all`.
    pub fn log(mut self, categories: LogMask) -> Builder {
        self.watching.log = Some(categories);
        self
    }

    /// Sets how long fibers may wait behind one that computes or blocks its thread, before a
    /// report is written to standard error; by default 100 ms, for fibers that have started.
    /// `None` turns the reports off. Overrides `PIRN_SLOW_FIBER`, which is in milliseconds, or
    /// `off`.
    ///
    /// A report names the fiber, its spawn line, the cause, the number of waiting fibers, and the
    /// remedy. It is written once for each spawn line, and then with totals, after 1 s, 10 s, 100 s
    /// at the earliest. The end of a reported stall is reported too. Metrics count all stalls and
    /// how long they took. The thread that looks for stalls does not wake an idle process, and
    /// workers do no work for it.
    ///
    /// If a threshold is set, reports have the names of fibers, and fibers that have not started
    /// count too. Then fibers no longer switch to each other directly, but through their worker,
    /// which costs some 10 ns for each switch.
    ///
    /// Not on a [deterministic](Self::deterministic) runtime, nor on one without workers. See
    /// [the guide](crate::guide::debugging).
    pub fn slow_fiber(mut self, threshold: Option<Duration>) -> Builder {
        self.watching.slow = Some(threshold);
        self
    }

    /// Sets whether a stall report may send a signal, `SIGURG`, to the thread of the fiber, to find
    /// its system call and its frames; by default yes. Overrides `PIRN_STALL_SIGNAL`, which is
    /// 0 or 1.
    ///
    /// The signal goes to that one thread, once for each report. It is used on Linux on x86-64
    /// only, and never if the program has a handler of its own for it. A system call of the thread is
    /// restarted, except those that end with `EINTR` at any signal: sleeps, `poll`, and waits with a
    /// time limit. `std` retries these by itself. Without the signal a report has no frames, and may
    /// not name the system call.
    pub fn stall_signal(mut self, yes: bool) -> Builder {
        self.watching.signals = Some(yes);
        self
    }

    /// Checks at each switch that the state of the fiber is one that it may have there, and
    /// aborts with a message if not: a bug of this library. Overrides `PIRN_ASSERT`, which is 0
    /// or 1. Debug builds, and the feature `diagnostics`, check every step besides.
    pub fn assertions(mut self, yes: bool) -> Builder {
        self.watching.assertions = Some(yes);
        self
    }

    /// Answers on a Unix socket at this path, from when the runtime is built until it ends or the
    /// process exits: what its workers and fibers do and wait for, its counters, the frames of
    /// a fiber. `pirn-top PATH` shows it; `docs/inspect-format.md` says what can be asked.
    /// Overrides `PIRN_INSPECT`.
    ///
    /// Only processes of the same user, and the administrator's, may connect: by the file's
    /// permissions, and by what the system says of whoever has connected. They can read, and
    /// change nothing. The socket of a process that has died without removing it is replaced. With
    /// `PIRN_INSPECT`, the first runtime of a process listens at the path itself, the second with
    /// `.2` after it, and so on.
    ///
    /// A directory of mode 0700 is made beside the socket while it is being made, so the one that it
    /// is in must be writable, and the path some dozen bytes shorter than the system's limit.
    ///
    /// A thread answers, which sleeps while nobody asks. A question has each worker go
    /// through its fibers, as for [`diag::fibers`](crate::diag::fibers()); without one it
    /// costs nothing. On systems other than Unix, [`build`](Self::build) fails.
    pub fn inspect(mut self, path: impl Into<PathBuf>) -> Builder {
        self.watching.inspect = Some(path.into());
        self
    }
}

impl Watching {
    /// What is watched, and what is said at the end. Opens the file of a trace, and the socket
    /// of an inspector.
    ///
    /// # Errors
    /// * Kind `InvalidInput`: a threshold that cannot be used.
    /// * What the system says of the file of a trace, or of the socket; the message names it.
    pub(super) fn decide(self, environment: &Environment) -> io::Result<(Watch, Ending)> {
        let slow = match self.slow {
            Some(slow) => slow
                .map(|threshold| environment::check_slow("slow_fiber", threshold))
                .transpose()?,
            None => environment.slow_fiber.flatten(),
        };
        let asked = self.slow.is_some() || environment.slow_fiber.is_some();
        let stalls = if asked { slow } else { Some(STALL) };
        let trace = match (&self.trace, &environment.trace) {
            (Some(path), _) => Some(TraceFile::create("trace", path)?),
            (None, Some(path)) => {
                let create = |path: &Path| TraceFile::create("PIRN_TRACE", path);
                Some(numbered(path, &TRACED, create)?)
            }
            (None, None) => None,
        };
        let inspector = match (&self.inspect, &environment.inspect) {
            (Some(path), _) => Some(Inspector::bind("inspect", path)?),
            (None, Some(path)) => {
                let bind = |path: &Path| Inspector::bind("PIRN_INSPECT", path);
                Some(numbered(path, &INSPECTED, bind)?)
            }
            (None, None) => None,
        };
        let watch = Watch {
            trace: trace.is_some(),
            log: self.log.or(environment.log).unwrap_or_default(),
            slow,
            stalls,
            signals: self.signals.or(environment.signals) != Some(false),
            assertions: self.assertions.or(environment.assertions) == Some(true),
        };
        let ending = Ending {
            stats: self.stats.or(environment.stats) == Some(true),
            verbose: self.verbose.or(environment.verbose) == Some(true),
            trace,
            inspector,
        };
        Ok((watch, ending))
    }
}

/// Runtimes of the process that trace, and that listen, by the environment.
static TRACED: StaticLock<usize> = StaticLock::new(0);
static INSPECTED: StaticLock<usize> = StaticLock::new(0);

/// What `open` makes of the path that the next runtime has, with its number from the second on.
fn numbered<T>(
    path: &Path,
    runtimes: &StaticLock<usize>,
    open: impl FnOnce(&Path) -> io::Result<T>,
) -> io::Result<T> {
    let mut runtimes = runtimes.lock();
    let mut name = path.as_os_str().to_owned();
    if *runtimes > 0 {
        name.push(format!(".{}", *runtimes + 1));
    }
    let opened = open(Path::new(&name))?;
    *runtimes += 1;
    Ok(opened)
}

/// Says what a runtime that starts has decided.
pub(super) fn say_start(name: &str, decided: &str, watch: &Watch) {
    let log = if watch.log.is_empty() {
        "nothing".to_owned()
    } else {
        watch.log.to_string()
    };
    let slow = watch
        .stalls
        .map_or("off".to_owned(), |slow| format!("{slow:?}"));
    let on = |yes| if yes { "on" } else { "off" };
    let _ = writeln!(
        io::stderr(),
        "pirn: '{name}' starts: {decided}; trace {}, log {log}, stalls {slow}, \
         assertions {}",
        on(watch.trace),
        on(watch.assertions),
    );
}

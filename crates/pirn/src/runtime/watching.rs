//! Diagnostics of a runtime: the methods of [`Builder`] that have a `PIRN_*` variable each. They do
//! not change how a program's own work runs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::builder::Builder;
use super::environment::{self, Environment};
use crate::observe::{Ending, Inspector, TraceFile};
use crate::sched::events::{LogMask, Watch};
use crate::shim::StaticLock;

/// The default threshold for stall reports: a tenth of a second is noticeable to users.
const STALL: Duration = Duration::from_millis(100);

/// Explicit settings; the environment provides the others.
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
    /// Sets whether the runtime's [counters](crate::diag::Metrics) are written to standard error
    /// when it ends, or when the process exits before that. Overrides `PIRN_STATS`, which is 0 or
    /// 1.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().stats_at_exit(true).build()?;
    /// assert_eq!(runtime.run(|| 7), 7);
    /// drop(runtime); // writes the counters
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "RuntimeMetrics")]
    pub fn stats_at_exit(mut self, yes: bool) -> Builder {
        self.watching.stats = Some(yes);
        self
    }

    /// Sets whether the runtime reports its settings on standard error when it starts (workers,
    /// stacks, scheduler, diagnostics), and a summary when it ends. Overrides `PIRN_VERBOSE`, which
    /// is 0 or 1.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().verbose(true).build()?; // writes the settings
    /// assert_eq!(runtime.run(|| 7), 7);
    /// drop(runtime); // writes the summary
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "schedtrace")]
    pub fn verbose(mut self, yes: bool) -> Builder {
        self.watching.verbose = Some(yes);
        self
    }

    /// Sets the file to which the last 65,536 events of each worker are written when the runtime
    /// ends, or when the process exits before that. They show when and on which worker each fiber
    /// ran, what it waited for and what woke it. The format is the trace-event format that
    /// `about:tracing` and Perfetto open. Overrides `PIRN_TRACE`.
    ///
    /// The file is created when the runtime is built. If it cannot be written in full at the end,
    /// that is reported on standard error; nothing else changes. With `PIRN_TRACE`, the second
    /// runtime of a process appends `.2` to the name, and so on.
    ///
    /// Each event reads the clock, and fibers no longer switch to each other directly but through
    /// their worker. Together this costs some 50 ns for each switch. The events take 2.5 MiB for
    /// each worker. [`Handle::write_trace`](super::Handle::write_trace) writes the same at any
    /// time.
    ///
    /// # Examples
    /// ```
    /// let name = format!("pirn-doc-trace-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let runtime = pirn::Runtime::builder().trace(&path).build()?;
    /// runtime.run(pirn::yield_now);
    /// drop(runtime);
    /// assert!(std::fs::read_to_string(&path)?.contains("traceEvents"));
    /// std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn trace(mut self, path: impl Into<PathBuf>) -> Builder {
        self.watching.trace = Some(path.into());
        self
    }

    /// Sets the categories of events that are written to standard error as they happen, a line for
    /// each. Overrides `PIRN_LOG`, which contains their names separated by commas, or `all`.
    ///
    /// # Examples
    /// ```
    /// use pirn::diag::LogMask;
    ///
    /// let mask = LogMask::JOIN | LogMask::CHAN;
    /// let runtime = pirn::Runtime::builder().log(mask).build()?;
    /// assert_eq!(runtime.run(|| pirn::spawn(|| 7).join().unwrap()), 7);
    /// # Ok::<(), std::io::Error>(())
    /// ```
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
    /// their total time. The thread that checks for stalls does not wake an idle process, and
    /// workers do no work for it.
    ///
    /// If a threshold is set, reports contain the names of fibers, and fibers that have not started
    /// count too. Then fibers no longer switch to each other directly, but through their worker,
    /// which costs some 10 ns for each switch.
    ///
    /// Has no effect on a [deterministic](Self::deterministic) runtime, or on one without workers.
    /// See [the guide](crate::guide::debugging).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let limit = Duration::from_millis(20);
    /// let runtime = pirn::Runtime::builder().slow_fiber(Some(limit)).build()?;
    /// assert_eq!(runtime.metrics().slow_fibers, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn slow_fiber(mut self, threshold: Option<Duration>) -> Builder {
        self.watching.slow = Some(threshold);
        self
    }

    /// Sets whether a stall report may send a signal, `SIGURG`, to the thread of the fiber, to find
    /// its system call and its frames; by default yes. Overrides `PIRN_STALL_SIGNAL`, which is
    /// 0 or 1.
    ///
    /// The signal goes to that one thread, once for each report. It is used on Linux on x86-64
    /// only, and never if the program has a handler of its own for it. A system call of the thread
    /// is restarted, except those that end with `EINTR` at any signal: sleeps, `poll`, and waits
    /// with a time limit. `std` retries these by itself. Without the signal a report has no frames,
    /// and may not name the system call.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().stall_signal(false).build()?;
    /// assert_eq!(runtime.run(|| 7), 7);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn stall_signal(mut self, yes: bool) -> Builder {
        self.watching.signals = Some(yes);
        self
    }

    /// Sets whether each switch checks that the state of the fiber is allowed there. The process is
    /// aborted with a message if it is not: that is a bug in this library. Overrides `PIRN_ASSERT`,
    /// which is 0 or 1. Debug builds, and the feature `diagnostics`, also check every step.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().assertions(true).build()?;
    /// assert_eq!(runtime.run(|| pirn::spawn(|| 7).join().unwrap()), 7);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn assertions(mut self, yes: bool) -> Builder {
        self.watching.assertions = Some(yes);
        self
    }

    /// Sets the path of a Unix socket for queries. The socket is open from the creation of the
    /// runtime until the runtime ends or the process exits. The answers contain the state of the
    /// workers and fibers, their waits, the counters, and the frames of a fiber. `pirn-top PATH`
    /// shows them; `docs/inspect-format.md` specifies the queries. Overrides `PIRN_INSPECT`.
    ///
    /// Only processes of the same user or of the administrator may connect. The file's permissions
    /// and the system's credentials of the peer ensure that. They can read, and change nothing. The
    /// socket of a process that has died without removing it is replaced. With `PIRN_INSPECT`, the
    /// first runtime of a process listens at the path itself, the second with `.2` appended, and so
    /// on.
    ///
    /// While the socket is being created, a directory of mode 0700 exists beside it. So the parent
    /// directory must be writable, and the path some dozen bytes shorter than the system's limit.
    ///
    /// A thread answers, and sleeps between queries. A query makes each worker describe its fibers,
    /// as for [`diag::fibers`](crate::diag::fibers()); without queries there is no cost. On
    /// systems other than Unix, [`build`](Self::build) fails.
    ///
    /// # Examples
    /// ```no_run
    /// let runtime = pirn::Runtime::builder().inspect("/run/user/1000/web.socket").build()?;
    /// assert_eq!(runtime.run(|| 7), 7);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "console_subscriber")]
    pub fn inspect(mut self, path: impl Into<PathBuf>) -> Builder {
        self.watching.inspect = Some(path.into());
        self
    }
}

impl Watching {
    /// Combines these settings with those of the environment into the diagnostics and the reports
    /// at the end. Opens the file of a trace, and the socket of an inspector.
    ///
    /// # Errors
    /// * Kind `InvalidInput`: an invalid threshold.
    /// * The system's error for the file of a trace, or for the socket; the message names it.
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

/// The number of runtimes of the process that `PIRN_TRACE` has made write a trace.
static TRACED: StaticLock<usize> = StaticLock::new(0);
/// The number of runtimes of the process that `PIRN_INSPECT` has made listen.
static INSPECTED: StaticLock<usize> = StaticLock::new(0);

/// Calls `open` with the path for the next runtime, and returns the result. From the second runtime
/// on, the path ends with the runtime's number.
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

/// Reports the settings of a runtime that starts.
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

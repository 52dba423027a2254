//! Diagnostics of a runtime: the methods of [`Builder`] that have a `PIRN_*` variable each. They do
//! not change how a program's own work runs.

use std::path::PathBuf;
use std::time::Duration;

use super::builder::Builder;
use crate::events::LogMask;

impl Builder {
    /// Sets whether the runtime's [counters](crate::diag::Metrics), and the
    /// [use of its stacks](crate::diag::StackUse), are written to standard error when it ends, or
    /// when the process exits before that. Overrides `PIRN_STATS`, which is 0 or 1.
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
        self.diagnostics.stats = Some(yes);
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
        self.diagnostics.verbose = Some(yes);
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
        self.diagnostics.trace = Some(path.into());
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
        self.diagnostics.log = Some(categories);
        self
    }

    /// Sets how long fibers may wait behind one that computes or blocks its thread, before a
    /// report is written to standard error; by default 100 ms, for fibers that have started.
    /// `None` turns the reports off. Overrides `PIRN_SLOW_FIBER`, which is in milliseconds, or
    /// `off`.
    ///
    /// The first report on a spawn line names the fiber, the line, the cause, the number of waiting
    /// fibers, and the remedy. Later ones have totals in place of the remedy, and come after 1 s,
    /// 10 s, 100 s at the earliest. The end of a reported stall is reported too. Metrics count all
    /// stalls, and add up the waits in those that have ended. The thread that checks for stalls
    /// does not wake an idle process, and workers do no work for it.
    ///
    /// If a threshold is set, reports contain the names of fibers, and fibers that have not started
    /// count too. Then fibers no longer switch to each other directly, but through their worker,
    /// which costs some 10 ns for each switch. A threshold of zero makes [`build`](Self::build)
    /// fail.
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
        self.diagnostics.slow = Some(threshold);
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
        self.diagnostics.signals = Some(yes);
        self
    }

    /// Sets whether each switch checks that the state of the fiber is allowed there. The process is
    /// aborted with a message if it is not: that is a bug in this library. Overrides `PIRN_ASSERT`,
    /// which is 0 or 1. Debug builds, and builds with the feature `diagnostics`, always check every
    /// change of the state.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().assertions(true).build()?;
    /// assert_eq!(runtime.run(|| pirn::spawn(|| 7).join().unwrap()), 7);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn assertions(mut self, yes: bool) -> Builder {
        self.diagnostics.assertions = Some(yes);
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
        self.diagnostics.inspect = Some(path.into());
        self
    }
}

//! The diagnostics of a runtime: the settings of its builder, combined with the environment.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::environment::{self, Environment};
use crate::events::{LogMask, Watch};
use crate::observe::{Ending, Inspector, TraceFile};
use crate::shim::StaticLock;

/// The default threshold for stall reports: a tenth of a second is noticeable to users.
const STALL: Duration = Duration::from_millis(100);

/// Explicit settings; where one is `None`, the environment decides.
#[derive(Debug, Default)]
pub(super) struct Diagnostics {
    pub(super) stats: Option<bool>,
    pub(super) verbose: Option<bool>,
    pub(super) trace: Option<PathBuf>,
    pub(super) log: Option<LogMask>,
    /// `Some(None)`: no reports.
    pub(super) slow: Option<Option<Duration>>,
    pub(super) signals: Option<bool>,
    pub(super) assertions: Option<bool>,
    pub(super) inspect: Option<PathBuf>,
}

impl Diagnostics {
    /// Combines these settings with those of the environment into the diagnostics and the reports
    /// at the end. Opens the file of a trace, and the socket of an inspector.
    ///
    /// # Errors
    /// * Kind `InvalidInput`: a threshold of zero.
    /// * The error of creating the file of a trace or the socket of an inspector; the message names
    ///   the setting and the path.
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
/// on, that path has the number of the runtime as a suffix. A failed call counts no runtime.
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

//! The end of a runtime: it writes its counters, its trace and its summary, and closes its
//! inspector.
//!
//! A runtime ends when it is dropped or shut down. The default one, and any that is leaked, ends
//! with the process. Those write their report when the process exits (by `main`'s return or `exit`,
//! not by a signal or an abort), while their workers still run. `Pool::report_end` makes sure that
//! it happens once.

use std::fmt::Write;
use std::mem;
use std::process;
use std::sync::{Arc, Weak};

use super::inspect::Inspector;
use super::metrics::Metrics;
use super::stack_use::StackUse;
use super::trace_file::TraceFile;
use crate::base::name::Name;
use crate::sched::pool::shared::{AtEnd, Pool};
use crate::shim::StaticLock;
use crate::sys;

/// The reports due at the end.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    pub(crate) stats: bool,
    pub(crate) verbose: bool,
    pub(crate) trace: Option<TraceFile>,
    /// The inspector to close.
    pub(crate) inspector: Option<Arc<Inspector>>,
}

impl Ending {
    /// Returns the pool's end hook; `None` if there is nothing to report.
    pub(crate) fn into_hook(self) -> Option<AtEnd> {
        let silent = !self.stats && !self.verbose && self.trace.is_none();
        (!silent || self.inspector.is_some())
            .then(|| Box::new(move |pool: &Pool| self.report(pool)) as AtEnd)
    }

    fn report(&self, pool: &Pool) {
        if let Some(inspector) = &self.inspector {
            inspector.close();
        }
        if let Some(trace) = &self.trace {
            trace.write(pool);
        }
        let metrics = Metrics::of(pool);
        let name = Name(pool.name());
        let mut text = String::new();
        if self.stats {
            let _ = write!(text, "pirn: counters of '{name}':\n{metrics}");
            let stacks = StackUse::of(pool);
            let _ = writeln!(text, "pirn: stacks of '{name}': {stacks}");
        }
        if self.verbose {
            let total = &metrics.total;
            let _ = writeln!(
                text,
                "pirn: '{name}' ends: {} fibers spawned, {} ended, {} workers started, \
                 {} stolen, {} rescues",
                total.spawned,
                total.completed,
                metrics
                    .workers
                    .iter()
                    .filter(|w| w.counters.dispatched > 0)
                    .count(),
                total.stolen,
                total.rescues,
            );
        }
        sys::report_whole(text.as_bytes());
    }
}

/// The runtimes that report when the process exits, each with the process that has built it: a
/// child of `fork` has copies of the runtimes of its parent, and does not report on them.
static SPEAKERS: StaticLock<Vec<(u32, Weak<Pool>)>> = StaticLock::new(Vec::new());

/// Registers `pool` to report when the process exits, if it has not ended by then.
pub(crate) fn at_process_exit(pool: &Arc<Pool>) {
    let mut speakers = SPEAKERS.lock();
    speakers.retain(|(_, speaker)| speaker.strong_count() > 0);
    speakers.push((process::id(), Arc::downgrade(pool)));
    drop(speakers);
    sys::at_exit(report_all);
}

extern "C" fn report_all() {
    let this = process::id();
    let speakers = mem::take(&mut *SPEAKERS.lock());
    for (builder, pool) in speakers {
        if builder == this
            && let Some(pool) = pool.upgrade()
        {
            pool.report_end();
        }
    }
}

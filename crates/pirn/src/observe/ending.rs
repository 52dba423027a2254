//! The end of a runtime: it writes its counters, its trace and its summary, and closes its
//! inspector.
//!
//! A runtime ends when it is dropped or shut down. The default one, and any that is leaked, ends
//! with the process. Those write their report when the process exits (by `main`'s return or `exit`,
//! not by a signal or an abort), while their workers still run. `Pool::report_end` makes sure that
//! it happens once.

use std::io::{self, Write};
use std::sync::{Arc, Weak};

use super::inspect::Inspector;
use super::metrics::Metrics;
use super::stack_use::StackUse;
use super::trace_file::TraceFile;
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
        let name = pool.name();
        if self.stats {
            let _ = write!(io::stderr(), "pirn: counters of '{name}':\n{metrics}");
            let stacks = StackUse::of(pool);
            let _ = writeln!(io::stderr(), "pirn: stacks of '{name}': {stacks}");
        }
        if self.verbose {
            let total = &metrics.total;
            let _ = writeln!(
                io::stderr(),
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
    }
}

/// The runtimes that report when the process exits.
static SPEAKERS: StaticLock<Vec<Weak<Pool>>> = StaticLock::new(Vec::new());

/// Registers `pool` to report when the process exits, if it has not ended by then.
pub(crate) fn at_process_exit(pool: &Arc<Pool>) {
    let mut speakers = SPEAKERS.lock();
    speakers.retain(|speaker| speaker.strong_count() > 0);
    speakers.push(Arc::downgrade(pool));
    drop(speakers);
    sys::at_exit(report_all);
}

extern "C" fn report_all() {
    let speakers = std::mem::take(&mut *SPEAKERS.lock());
    for pool in speakers.iter().filter_map(Weak::upgrade) {
        pool.report_end();
    }
}

//! What a runtime says at its end: its counters, its trace, how it went; and that it answers
//! nobody any more.
//!
//! A runtime ends when it is dropped or shut down. The default one, and any that is leaked,
//! ends with the process: for those, what is to be said is said when the process exits
//! (by `main`'s return or `exit`, not by a signal or an abort), while their workers still run.
//! `Pool::tell_end` sees to it that it is said once.

use std::io::{self, Write};
use std::sync::{Arc, Weak};

use super::inspect::Inspector;
use super::metrics::Metrics;
use super::trace_file::TraceFile;
use crate::sched::config::AtEnd;
use crate::sched::pool::Pool;
use crate::shim::StaticLock;
use crate::sys;

/// What is to be said at the end.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    pub(crate) stats: bool,
    pub(crate) verbose: bool,
    pub(crate) trace: Option<TraceFile>,
    /// To be closed.
    pub(crate) inspector: Option<Arc<Inspector>>,
}

impl Ending {
    /// What the pool calls at its end; `None` if there is nothing to be said.
    pub(crate) fn into_hook(self) -> Option<AtEnd> {
        let silent = !self.stats && !self.verbose && self.trace.is_none();
        (!silent || self.inspector.is_some())
            .then(|| Box::new(move |pool: &Pool| self.tell(pool)) as AtEnd)
    }

    fn tell(&self, pool: &Pool) {
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

/// The runtimes that have something to say when the process exits.
static SPEAKERS: StaticLock<Vec<Weak<Pool>>> = StaticLock::new(Vec::new());

/// Has `pool` say what it has to when the process exits, if it has not ended by then.
pub(crate) fn at_process_exit(pool: &Arc<Pool>) {
    let mut speakers = SPEAKERS.lock();
    speakers.retain(|speaker| speaker.strong_count() > 0);
    speakers.push(Arc::downgrade(pool));
    drop(speakers);
    sys::at_exit(tell_all);
}

extern "C" fn tell_all() {
    let speakers = std::mem::take(&mut *SPEAKERS.lock());
    for pool in speakers.iter().filter_map(Weak::upgrade) {
        pool.tell_end();
    }
}

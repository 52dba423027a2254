//! What can be asked of a runtime.

use std::io;

use crate::observe::{self, Metrics};
use crate::runtime::Handle;

impl Handle {
    /// What the runtime has done so far.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        Metrics::of(self.pool())
    }

    /// Writes what has happened lately, as JSON in the trace-event format that
    /// `about:tracing` and Perfetto open: see
    /// [`Builder::trace`](crate::runtime::Builder::trace). The runtime goes on meanwhile.
    ///
    /// # Errors
    /// * Kind `Unsupported`: the runtime keeps no events.
    /// * Those of `out`.
    ///
    /// # Cancellation
    /// Not an interruption point.
    ///
    /// # Blocking
    /// For as long as `out` takes, which may be some seconds for a slow one.
    pub fn write_trace(&self, out: &mut dyn io::Write) -> io::Result<()> {
        if !self.pool().keeps_events() {
            let why = "the runtime keeps no events: see Builder::trace";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        observe::write_trace(self.pool(), out)
    }
}

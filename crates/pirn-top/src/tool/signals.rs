//! Signals that end the program: it gives the terminal back first, and then ends by the signal.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{flag, low_level};

/// The last signal that has come, or 0.
pub(super) struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// From now on such signals do nothing but to be seen here.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn watch() -> io::Result<Signals> {
        let last = Arc::new(AtomicUsize::new(0));
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            let number = signal.unsigned_abs() as usize;
            flag::register_usize(signal, Arc::clone(&last), number)?;
        }
        Ok(Signals(last))
    }

    /// Whether one has come.
    pub(super) fn has_come(&self) -> bool {
        self.0.load(Ordering::SeqCst) != 0
    }

    /// Ends the process as the signal would have, if one has come.
    pub(super) fn obey(&self) {
        if let Ok(signal @ 1..) = i32::try_from(self.0.load(Ordering::SeqCst)) {
            let _ = low_level::emulate_default_handler(signal);
        }
    }
}

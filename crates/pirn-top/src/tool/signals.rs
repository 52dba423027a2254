//! Signals that end the program: it restores the terminal first, and then ends by the signal.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{flag, low_level};

/// The last signal received, or 0.
pub(super) struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// Installs handlers that only record these signals.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn watch() -> io::Result<Signals> {
        let last = Arc::new(AtomicUsize::new(0));
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            let number = signal.unsigned_abs() as usize;
            flag::register_usize(signal, Arc::clone(&last), number)?;
        }
        Ok(Signals(last))
    }

    /// Returns true if one has been received.
    pub(super) fn has_come(&self) -> bool {
        self.0.load(Ordering::SeqCst) != 0
    }

    /// Ends the process by the signal, if one has been received.
    pub(super) fn obey(&self) {
        if let Ok(signal @ 1..) = i32::try_from(self.0.load(Ordering::SeqCst)) {
            let _ = low_level::emulate_default_handler(signal);
        }
    }
}

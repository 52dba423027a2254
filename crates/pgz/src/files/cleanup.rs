//! Registry of the temporary file that is being written, so that a signal can remove it.
//!
//! There is at most one. Its path is registered before the file is created, and deregistered after
//! it has been renamed or removed. Both happen under the registry's lock. The signal thread
//! acquires that lock before it removes a file and never releases it. So:
//!
//! * C1. A registered path is this program's temporary file, or no file at all.
//! * C2. If the signal comes before the rename, the temporary file is gone and the target
//!   untouched; if it comes after, the target is complete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::Signals;

use super::inherited;

/// Removes the registered file when the program is interrupted, hung up or terminated, or
/// exceeds its processor time, and then dies of the same signal. Signals that were ignored
/// at the start stay so (`nohup`, background jobs). Exceeding the file size limit becomes a
/// write error.
///
/// # Errors
///
/// Those of installing a handler or starting a thread.
pub fn on_signals() -> io::Result<()> {
    let wanted: Vec<i32> = [SIGHUP, SIGINT, SIGTERM, SIGXCPU]
        .into_iter()
        .filter(|&signal| !inherited::ignores(signal))
        .collect();
    let mut signals = Signals::new(wanted)?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            if let Some(signal) = signals.forever().next() {
                let registered = REGISTERED.lock();
                if let Ok(Some(path)) = registered.as_deref() {
                    let _ = fs::remove_file(path);
                }
                let _ = signal_hook::low_level::emulate_default_handler(signal);
                std::process::exit(128 + signal);
            }
        })?;
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    Ok(())
}

/// Registers the path, then creates the file with `create`.
pub(super) fn create<T>(
    path: &Path,
    create: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    let mut registered = registry();
    *registered = Some(path.to_owned());
    let created = create();
    if created.is_err() {
        *registered = None;
    }
    created
}

/// Renames or removes the temporary file with `settle`, and deregisters the path if that succeeds.
pub(super) fn settle(settle: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let mut registered = registry();
    settle()?;
    *registered = None;
    Ok(())
}

fn registry() -> std::sync::MutexGuard<'static, Option<PathBuf>> {
    REGISTERED
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

static REGISTERED: Mutex<Option<PathBuf>> = Mutex::new(None);

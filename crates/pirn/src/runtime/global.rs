//! The default runtime: created on first use, or installed before that.

use std::time::Duration;

use super::builder::{Builder, InstallError};
use super::handle::Handle;
use super::instance::{Runtime, Unfinished};
use crate::shim::StaticLock;

static DEFAULT: StaticLock<Option<Runtime>> = StaticLock::new(None);

/// Returns the default runtime's handle.
///
/// # Panics
/// If it does not exist and cannot be created, with the message of `Builder::build`.
pub(super) fn handle() -> Handle {
    let mut default = DEFAULT.lock();
    if let Some(runtime) = &*default {
        return runtime.handle();
    }
    match Builder::new().build() {
        Ok(runtime) => default.insert(runtime).handle(),
        Err(error) => {
            drop(default);
            panic!("the default runtime could not be made: {error}")
        }
    }
}

impl Handle {
    /// Returns the default runtime's handle, also on a fiber of another one.
    ///
    /// # Panics
    /// If it does not exist and cannot be created.
    pub(crate) fn process_default() -> Handle {
        handle()
    }
}

pub(super) fn install(builder: Builder) -> Result<(), InstallError> {
    let mut default = DEFAULT.lock();
    if default.is_some() {
        return Err(InstallError::Exists);
    }
    *default = Some(builder.build().map_err(InstallError::Io)?);
    Ok(())
}

/// Shuts down the default runtime, as [`Runtime::shutdown`] does. Returns `Ok` if there is none.
/// The next use of a default runtime creates a new one.
///
/// The default runtime is not ended otherwise: without this call its fibers stop at an arbitrary
/// point when `main` returns.
///
/// # Errors
/// The fibers that have not ended in time. If a fiber of the default runtime calls it, it returns
/// an error at once, without a list of fibers.
///
/// # Cancellation
/// Not an interruption point.
///
/// # Blocking
/// As [`Runtime::shutdown`]. It first waits if another thread is creating the default runtime.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// let fiber = pirn::spawn(|| pirn::sleep(Duration::from_secs(60)));
/// pirn::runtime::shutdown_default(Duration::from_secs(5)).expect("it ends when interrupted");
/// assert!(fiber.is_finished());
/// ```
#[doc(alias = "shutdown_timeout")]
pub fn shutdown_default(timeout: Duration) -> Result<(), Unfinished> {
    let runtime = DEFAULT.lock().take();
    runtime.map_or(Ok(()), |runtime| runtime.shutdown(timeout))
}

//! The default runtime: made on first use, or installed before that.

use std::time::Duration;

use super::builder::{Builder, InstallError};
use super::handle::Handle;
use super::instance::{Runtime, Unfinished};
use crate::shim::StaticLock;

static DEFAULT: StaticLock<Option<Runtime>> = StaticLock::new(None);

/// The default runtime's handle.
///
/// # Panics
/// If it has to be made and cannot be; the text is that of `Builder::build`.
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
    /// The default runtime's handle, also on a fiber of another one.
    ///
    /// # Panics
    /// If it has to be made and cannot be.
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

/// Shuts the default runtime down, as [`Runtime::shutdown`]. `Ok` if there is none. The next
/// use of a default runtime makes a new one.
///
/// Nobody else ends it: without this call its fibers stop where they are when `main` returns.
///
/// # Errors
/// The fibers that have not ended in time. At once, with no fibers listed, when called by a
/// fiber of the default runtime.
///
/// # Cancellation
/// Not an interruption point.
///
/// # Blocking
/// As [`Runtime::shutdown`]. Before that, while another thread makes the default runtime.
pub fn shutdown_default(timeout: Duration) -> Result<(), Unfinished> {
    let runtime = DEFAULT.lock().take();
    runtime.map_or(Ok(()), |runtime| runtime.shutdown(timeout))
}

//! The default runtime, created on first use or installed before that, and the current runtime.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use super::builder::Builder;
use super::handle::Handle;
use super::instance::{Runtime, Unfinished};
use crate::fiber::current;
use crate::shim::StaticLock;

static DEFAULT: StaticLock<Option<Runtime>> = StaticLock::new(None);

/// The error of [`Builder::install`]: why the runtime was not installed as the default one.
///
/// # Examples
/// ```
/// use pirn::runtime::{Builder, InstallError};
///
/// // There is a default runtime since the first use.
/// pirn::run(|| {});
/// let error = Builder::new().install().unwrap_err();
/// assert!(matches!(error, InstallError::Exists));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum InstallError {
    /// There is a default runtime already, installed or created on first use.
    Exists,
    /// The runtime could not be created.
    Io(io::Error),
}

/// Returns the default runtime's handle.
///
/// # Panics
/// If it does not exist and cannot be created, with the message of `Builder::build`.
fn handle() -> Handle {
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

/// Runs `f` on a fiber and returns its result. On a fiber it calls `f` directly. A plain thread
/// blocks while `f` runs on a fiber of the current runtime (see [`Handle::current`]); `f` then sees
/// the thread-locals of a worker.
///
/// # Panics
/// With the panic of `f`; or if there is no runtime and none can be created; or, on a plain thread,
/// if the runtime has been shut down.
///
/// # Cancellation
/// Not an interruption point: `f` may borrow, so this returns only when it has ended. Blocks a
/// plain thread.
///
/// # Examples
/// ```
/// let mut sum = 0;
/// pirn::run(|| {
///     let half = pirn::spawn(|| (1..=50).sum::<i32>());
///     sum = (51..=100).sum::<i32>() + half.join().unwrap();
/// });
/// assert_eq!(sum, 5050);
/// ```
#[doc(alias = "block_on")]
#[track_caller]
pub fn run<F, T>(f: F) -> T
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    if current::local().fiber().is_some() {
        return f();
    }
    Handle::current().run(f)
}

impl Handle {
    /// Returns the runtime of the calling fiber; else the one that the thread has entered; else the
    /// one in the [start hook](Builder::on_thread_start) of which the thread is; else the default
    /// one, which is created if necessary.
    ///
    /// # Panics
    /// If the default runtime does not exist and cannot be created.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::runtime::Handle;
    ///
    /// let runtime = pirn::Runtime::builder().workers(3).build()?;
    /// assert_eq!(runtime.run(|| Handle::current().workers()), 3);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn current() -> Handle {
        Handle::try_current().unwrap_or_else(handle)
    }

    /// Returns the default runtime's handle, also on a fiber of another one.
    ///
    /// # Panics
    /// If it does not exist and cannot be created.
    pub(crate) fn process_default() -> Handle {
        handle()
    }

    /// Returns the default runtime's handle, if that has been created.
    #[cfg(feature = "tokio")]
    pub(crate) fn existing_default() -> Option<Handle> {
        DEFAULT.lock().as_ref().map(Runtime::handle)
    }
}

impl Builder {
    /// Creates the runtime and installs it as the default one of the process.
    ///
    /// # Errors
    /// If there is a default runtime already, or as [`build`](Self::build).
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Blocking
    /// As [`build`](Self::build). It first waits if another thread is creating the default runtime.
    /// If another thread installs one at the same time, it ends the threads of its own.
    ///
    /// # Examples
    /// ```
    /// use pirn::runtime::{Builder, Handle};
    ///
    /// Builder::new().workers(3).install().expect("the first use of the default runtime");
    /// assert_eq!(pirn::run(|| Handle::current().workers()), 3);
    /// ```
    #[doc(alias = "build_global")]
    pub fn install(self) -> Result<(), InstallError> {
        if DEFAULT.lock().is_some() {
            return Err(InstallError::Exists);
        }
        // Without the lock: the builder's functions are the user's and may use the default runtime.
        let own = self.build().map_err(InstallError::Io)?;
        let mut default = DEFAULT.lock();
        if default.is_some() {
            drop(default);
            drop(own);
            return Err(InstallError::Exists);
        }
        *default = Some(own);
        Ok(())
    }
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
/// # Panics
/// As [`Runtime::shutdown`].
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

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstallError::Exists => f.write_str("there is a default runtime already"),
            InstallError::Io(error) => {
                write!(f, "the default runtime could not be made: {error}")
            }
        }
    }
}

impl Error for InstallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            InstallError::Exists => None,
            InstallError::Io(error) => Some(error),
        }
    }
}

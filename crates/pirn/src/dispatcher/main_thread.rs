//! A dispatcher that runs its fibers on one thread of the program: the main thread, which some
//! libraries require.

use super::pools;
use super::target::Dispatcher;
use crate::runtime::Handle;

impl Dispatcher {
    /// Returns the dispatcher of the thread that calls [`run_main`].
    ///
    /// Fibers spawned here before that call, or after it has ended, wait.
    ///
    /// # Panics
    /// If it has to be created and cannot be.
    ///
    /// # Examples
    /// ```
    /// use pirn::dispatcher::{Dispatcher, run_main};
    ///
    /// run_main(|| {
    ///     let fiber = Dispatcher::main().spawn(|| "on the main thread");
    ///     assert_eq!(fiber.join().unwrap(), "on the main thread");
    /// });
    /// ```
    #[must_use]
    pub fn main() -> Dispatcher {
        Dispatcher::lent(pools::main())
    }
}

/// Runs `f` on a fiber of the process's default runtime and returns its result. Meanwhile this
/// thread runs the fibers of [`Dispatcher::main`].
///
/// Fibers of that dispatcher that have not run when `f` has ended wait for the next call.
///
/// Fibers that have started on this thread and have not ended when the thread does, or when `main`
/// returns, are cancelled, and the dispatcher ends with them. Fibers spawned on it later are not
/// run. If they do not end within a second, the process is aborted, as for any runtime that is
/// driven by hand (see [`Builder::workers`](crate::runtime::Builder::workers)).
///
/// # Panics
/// With the panic of `f`. If another thread, which still lives, has called this, or if the caller
/// runs fibers: there is one main thread.
///
/// # Cancellation
/// Not an interruption point: `f` may borrow, so this returns only when it has ended. Blocks the
/// thread.
///
/// # Examples
/// ```
/// use pirn::dispatcher::{Dispatcher, run_main};
/// use std::thread;
///
/// let own = thread::current().id();
/// run_main(|| {
///     assert_ne!(thread::current().id(), own);
///     let window = Dispatcher::main().run(|| thread::current().id());
///     assert_eq!(window, own);
/// });
/// ```
#[doc(alias = "LockOSThread")]
#[track_caller]
pub fn run_main<F, T>(f: F) -> T
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    assert!(
        pools::main().bind(),
        "run_main belongs to one thread of the process, which runs no fibers"
    );
    Dispatcher::main().run(|| Handle::process_default().run(f))
}

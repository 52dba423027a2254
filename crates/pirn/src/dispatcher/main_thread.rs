//! A dispatcher whose fibers run on one thread of the program's own: the main thread, where some
//! libraries want to be called.

use super::pools;
use super::target::Dispatcher;
use crate::runtime::Handle;

impl Dispatcher {
    /// The dispatcher of the thread that calls [`run_main`]. What is sent here before that, or
    /// after that call has ended, waits.
    ///
    /// # Panics
    /// If it has to be made and cannot be.
    #[must_use]
    pub fn main() -> Dispatcher {
        Dispatcher::lent(pools::main())
    }
}

/// Runs `f` on a fiber of the process's default runtime; meanwhile this thread runs what is sent to
/// [`Dispatcher::main`]. Returns the result of `f` when that has ended; what has been sent
/// and is not done then waits for the next call.
///
/// What has started on this thread and has not ended when the thread does, or when `main` returns, is cancelled then, and
/// takes the dispatcher with it: what is sent there later is not run. If it does not end within a second, the
/// process is aborted, as for any runtime that is driven by hand
/// (see [`Builder::workers`](crate::runtime::Builder::workers)).
///
/// # Panics
/// With the panic of `f`. If another thread has called this before and has not ended, or the caller runs
/// fibers: there is one main thread.
///
/// # Cancellation
/// Not an interruption point: `f` may borrow, so this returns only when it has ended. Blocks
/// the thread.
///
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

//! Threads that do not run fibers but may still wake some.

use crate::fiber::thread_registry;

/// Runs `f`, and declares that the calling thread may wake fibers meanwhile, so that the deadlock
/// detector does not rule that out.
///
/// It is needed only where a thread waits in this library (for a channel, a lock, a fiber) for an
/// event from outside. Such events come from a signal handler, or from another process through
/// shared memory. A thread that waits anywhere else, in a system call for instance, counts as one
/// that may wake a fiber without this call.
///
/// # Panics
/// If `f` does.
///
/// # Cancellation
/// Not an interruption point itself.
///
/// # Examples
/// ```
/// let (tx, rx) = pirn::channel::bounded(1);
/// let from_outside = std::thread::spawn(move || tx.send(1));
/// assert_eq!(pirn::diag::external_wait(|| rx.recv()), Ok(1));
/// from_outside.join().unwrap().unwrap();
/// ```
pub fn external_wait<T>(f: impl FnOnce() -> T) -> T {
    thread_registry::external(f)
}

//! Threads that do not run fibers, and yet will wake some.

use crate::fiber::vigil;

/// Runs `f` and says that the calling thread may still wake fibers meanwhile, so that whoever
/// looks for deadlocks does not take it for one that never will.
///
/// It is needed only where a thread waits in this library (for a channel, a lock, a fiber) for
/// something that comes from outside all the same: what a signal handler does, or another
/// process with shared memory. A thread that waits anywhere else, in a system call for
/// instance, counts as one that may wake somebody without being told.
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
    vigil::external(f)
}

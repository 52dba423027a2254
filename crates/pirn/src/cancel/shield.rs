//! Code that is not interrupted.

use crate::fiber::current;
use crate::fiber::region::Region;
use crate::wait::limit;

/// Runs `f` without the interrupts that the caller is under: of its token, of its deadlines,
/// and of a [`cancel`](crate::JoinHandle::cancel) of the fiber itself. They are reported again
/// when `f` has been left. Tokens and deadlines that are entered inside `f` hold in there.
///
/// For what has to be completed though the fiber is to end: a commit, a farewell. A
/// runtime that has been shut down takes no new fibers, here neither.
///
/// # Panics
/// With the panic of `f`.
///
/// # Cancellation
/// Not an interruption point itself; what `f` waits for can be endless.
///
/// # Examples
/// ```
/// use pirn::{cancel, channel};
///
/// let (tx, rx) = channel::bounded(1);
/// let fiber = pirn::spawn(move || {
///     tx.send("started").unwrap();
///     while cancel::check().is_ok() {
///         pirn::yield_now();
///     }
///     // Interrupted, but the last word gets out.
///     cancel::shield(|| tx.send("stopped")).unwrap();
///     assert!(tx.send("again").is_err());
/// });
/// assert_eq!(rx.recv(), Ok("started"));
/// fiber.cancel();
/// assert_eq!(rx.recv(), Ok("stopped"));
/// fiber.join().unwrap();
/// ```
pub fn shield<T>(f: impl FnOnce() -> T) -> T {
    let fiber = current::identity(current::local());
    limit::within(fiber, &Region::shield(fiber), f)
}

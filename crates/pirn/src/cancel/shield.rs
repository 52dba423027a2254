//! Code that is not interrupted.

use crate::fiber::cancel_scope::CancelScope;
use crate::fiber::current;
use crate::wait::deadline;

/// Runs `f` without the interrupts of the caller: from its token, from its deadlines, and from
/// [`cancel`](crate::JoinHandle::cancel) of the fiber itself. They are reported again after `f` has
/// returned. Tokens and deadlines that are entered inside `f` apply in it.
///
/// For work that must be completed even though the fiber must end, such as a commit or a closing
/// message. A runtime that has been shut down accepts no new fibers, even inside a shield.
///
/// # Panics
/// With the panic of `f`.
///
/// # Cancellation
/// Not an interruption point itself; the waits of `f` may be unbounded.
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
#[doc(alias = "WithoutCancel")]
pub fn shield<T>(f: impl FnOnce() -> T) -> T {
    let fiber = current::identity(current::local());
    deadline::within(fiber, &CancelScope::shield(fiber), f)
}

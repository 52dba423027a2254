//! Choices of a simulated run; nothing elsewhere.

use crate::base::choice::Operation;
#[cfg(feature = "sim")]
use crate::fiber::current;

/// Returns true on a fiber of a simulated run.
///
/// # Examples
/// ```
/// assert!(!pirn::sim::is_simulated());
/// ```
#[inline]
#[must_use]
pub fn is_simulated() -> bool {
    #[cfg(feature = "sim")]
    let chooses = {
        let local = current::local();
        local.chooses() && local.fiber().is_some()
    };
    #[cfg(not(feature = "sim"))]
    let chooses = false;
    chooses
}

/// Lets the schedule choose which fiber runs next, in a simulated run. No effect elsewhere.
///
/// For operations that this library does not know, such as on memory that is mapped: call it before
/// each of them.
///
/// # Cancellation
/// Not an interruption point. Yields in a simulated run; no effect elsewhere.
///
/// # Examples
/// ```
/// pirn::sim::point();
/// ```
#[inline]
pub fn point() {
    before(Operation::Point, 0);
}

/// A choice before an operation, in a simulated run.
#[inline]
pub(super) fn before(operation: Operation, object: usize) {
    #[cfg(feature = "sim")]
    crate::wait::point(operation, object);
    #[cfg(not(feature = "sim"))]
    let _ = (operation, object);
}

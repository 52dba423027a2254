//! The result of a call.

use std::io;

/// Returns the result of a call that reports a failure by a negative number.
///
/// # Errors
/// The error of the system, which the call has left in `errno`.
#[inline(always)]
pub(super) fn check<N: Ord + Default>(result: N) -> io::Result<N> {
    if result < N::default() {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

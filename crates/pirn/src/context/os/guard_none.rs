//! Systems without guards that cost no mapping: the low end of a stack stays closed.

use std::io;
use std::ptr::NonNull;

/// The means that makes the low end of a stack trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::context) enum Guarding {
    /// By a guard in open memory, which costs no mapping.
    Install,
    /// By leaving it closed, which costs a mapping.
    Protect,
}

/// Returns the best way that works here.
pub(in crate::context) fn guarding() -> Guarding {
    Guarding::Protect
}

/// Returns an error: there are no such guards.
///
/// # Errors
/// Always `Unsupported`; the caller closes the memory instead.
///
/// # Safety
/// None; the other implementation has a contract.
pub(in crate::context) unsafe fn install_guard(
    _start: NonNull<u8>,
    _len: usize,
) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

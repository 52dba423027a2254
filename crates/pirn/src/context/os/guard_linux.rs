//! Guards by `MADV_GUARD_INSTALL` (Linux 6.13): a page that traps without a mapping of its
//! own, so that a million stacks fit below `vm.max_map_count`.
//!
//! The result of the system call is not reliable: emulators accept advice that they do not know and
//! do nothing. So one guard is installed for a trial, and a system call that writes into it must
//! fail.

use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::ptr::NonNull;
use std::sync::OnceLock;

use super::map;

/// The means that makes the low end of a stack trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::context) enum Guarding {
    /// By a guard in open memory, which costs no mapping.
    Install,
    /// By leaving it closed, which costs a mapping.
    Protect,
}

/// From the kernel's `mman-common.h`; not in the libc crate for every target.
const MADV_GUARD_INSTALL: i32 = 102;

/// Returns the best way that works here; tries once per process.
pub(in crate::context) fn guarding() -> Guarding {
    static WORKS: OnceLock<bool> = OnceLock::new();
    match *WORKS.get_or_init(|| trial().is_ok_and(|trapped| trapped)) {
        true => Guarding::Install,
        false => Guarding::Protect,
    }
}

/// Installs a guard in open memory, which loses its contents.
///
/// # Errors
/// `EINVAL` if the kernel does not know guards, or the memory is locked.
///
/// # Safety
/// 1. `start..start + len` are open pages of a reservation that only the caller uses.
pub(in crate::context) unsafe fn install_guard(
    start: NonNull<u8>,
    len: usize,
) -> io::Result<()> {
    // SAFETY: 1.
    let result = unsafe { libc::madvise(start.as_ptr().cast(), len, MADV_GUARD_INSTALL) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Returns whether a system call fails to write into a page with a guard.
fn trial() -> io::Result<bool> {
    let len = map::page_size();
    let page = map::reserve(len)?;
    // SAFETY: only this function uses the page.
    let guarded = unsafe { map::open(page, len) }
        // SAFETY: as above, and open.
        .and_then(|()| unsafe { install_guard(page, len) });
    let trapped = guarded.map(|()| !kernel_can_write(page.as_ptr()));
    // SAFETY: the whole reservation, which is no longer used.
    unsafe { map::release(page, len) };
    trapped
}

/// Lets the kernel write a byte to `page`, through a pipe.
fn kernel_can_write(page: *mut u8) -> bool {
    let Ok((reader, mut writer)) = io::pipe() else {
        // Nothing is proven, so guards are not relied on.
        return true;
    };
    let written = writer.write(&[0]);
    // SAFETY: one byte to a page of this function; if it traps, the call fails.
    let read = unsafe { libc::read(reader.as_raw_fd(), page.cast(), 1) };
    !matches!(written, Ok(1)) || read >= 0
}

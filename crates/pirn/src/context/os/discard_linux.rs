//! Discards pages of many stacks in one system call.
//!
//! `madvise` interrupts every processor that runs the program, for each call; between
//! virtual processors that takes 15 µs. `process_madvise` on the process itself takes many
//! ranges, and in recent kernels (6.18, by measurement) one interruption serves them all.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use super::map;

/// The calling thread, which stands for the memory of the process; from the kernel's `pidfd.h`
/// (Linux 6.14). Needs no descriptor. (The number for the whole process has changed between
/// versions.)
const PIDFD_SELF_THREAD: libc::c_int = -10_000;

/// The most ranges of one call, from the kernel's `uio.h`.
const RANGES_AT_ONCE: usize = 1024;

/// Set once the system has refused: older kernels do, and some sandboxes.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// Discards pages; they read as zeros when touched again.
///
/// # Safety
/// 1. Each range is of open pages of a reservation that only the caller uses.
pub(in crate::context) unsafe fn discard_all(
    ranges: impl Iterator<Item = (NonNull<u8>, usize)> + Clone,
) {
    // SAFETY: 1.
    if unsafe { discard_together(ranges.clone()) }.is_none() {
        for (start, len) in ranges {
            // SAFETY: 1; pages that are discarded already stay so.
            unsafe { map::discard(start, len) };
        }
    }
}

/// Returns `None` if the system did not discard all of them.
///
/// # Safety
/// As [`discard_all`].
unsafe fn discard_together(
    ranges: impl Iterator<Item = (NonNull<u8>, usize)>,
) -> Option<()> {
    if REFUSED.load(Ordering::Relaxed) {
        return None;
    }
    let vectors: Vec<_> = ranges
        .map(|(start, len)| libc::iovec {
            iov_base: start.as_ptr().cast(),
            iov_len: len,
        })
        .collect();
    for some in vectors.chunks(RANGES_AT_ONCE) {
        // SAFETY: 1; the array is alive for the call.
        let done = unsafe {
            libc::syscall(
                libc::SYS_process_madvise,
                PIDFD_SELF_THREAD,
                some.as_ptr(),
                some.len(),
                libc::MADV_DONTNEED,
                0,
            )
        };
        let all: usize = some.iter().map(|vector| vector.iov_len).sum();
        if usize::try_from(done) != Ok(all) {
            let error = std::io::Error::last_os_error().raw_os_error();
            // Any other error is about the ranges: for example, one of them is locked memory.
            let never = matches!(error, Some(libc::EBADF | libc::ENOSYS | libc::EPERM));
            REFUSED.fetch_or(done < 0 && never, Ordering::Relaxed);
            return None;
        }
    }
    Some(())
}

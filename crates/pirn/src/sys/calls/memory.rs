//! Advice to the system about memory.

use std::ptr::NonNull;

/// Asks for huge pages under a chunk that will be filled. A hint: refusals are ignored.
pub(crate) fn advise_huge(start: NonNull<u8>, len: usize) {
    #[cfg(target_os = "linux")]
    // SAFETY: the advice changes no contents; memory that is not mapped is an error.
    unsafe {
        libc::madvise(start.as_ptr().cast(), len, libc::MADV_HUGEPAGE);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, len);
}

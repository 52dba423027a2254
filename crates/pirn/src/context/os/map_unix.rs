//! Memory by `mmap`: reserved without access, opened in parts, discarded by page.

use std::io;
use std::ops::Range;
use std::ptr::{self, NonNull};

/// Returns the size of a page.
pub(in crate::context) fn page_size() -> usize {
    // SAFETY: asks for a constant of the system.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

/// Reserves `len` bytes that trap and count against no limit on memory.
///
/// # Errors
/// `ENOMEM` if the address space, or the number of mappings, is used up.
pub(in crate::context) fn reserve(len: usize) -> io::Result<NonNull<u8>> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
    // SAFETY: a new mapping at an address that the system chooses overlaps no memory in use.
    let start =
        unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // A huge page would make every stack of the page resident.
    // SAFETY: advice on a mapping that no other code knows.
    unsafe { no_huge_pages(start.cast(), len) };
    NonNull::new(start.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Unmaps memory that [`reserve`] mapped.
///
/// # Safety
/// 1. `start..start + len` is one whole reservation that is no longer used.
pub(in crate::context) unsafe fn release(start: NonNull<u8>, len: usize) {
    // SAFETY: 1.
    let result = unsafe { libc::munmap(start.as_ptr().cast(), len) };
    debug_assert_eq!(result, 0, "munmap: {}", io::Error::last_os_error());
}

/// Makes memory readable and writable.
///
/// # Errors
/// `ENOMEM` if there is no memory for it, or no mapping left.
///
/// # Safety
/// 1. `start..start + len` are pages of a reservation that only the caller uses.
pub(in crate::context) unsafe fn open(start: NonNull<u8>, len: usize) -> io::Result<()> {
    // SAFETY: 1.
    unsafe { protect(start, len, libc::PROT_READ | libc::PROT_WRITE) }
}

/// Makes memory trap.
///
/// # Errors
/// `ENOMEM` if there is no mapping left.
///
/// # Safety
/// As [`open`].
pub(in crate::context) unsafe fn close(start: NonNull<u8>, len: usize) -> io::Result<()> {
    // SAFETY: as the caller says.
    unsafe { protect(start, len, libc::PROT_NONE) }
}

/// Discards pages; they read as zeros when touched again.
///
/// # Safety
/// As [`open`], and the pages are open.
pub(super) unsafe fn discard(start: NonNull<u8>, len: usize) {
    // SAFETY: as the caller says. A refusal (locked memory) leaves the pages as they are, which
    // makes no difference to the next user of the slot.
    unsafe { libc::madvise(start.as_ptr().cast(), len, libc::MADV_DONTNEED) };
}

/// Returns the start of the lowest page in `range` that is in memory, found from the end of the
/// range: pages below a gap of 128 pages are not seen, so that a large range costs no more than its
/// used part. `None` if none is in memory, or if the system does not say.
pub(in crate::context) fn lowest_resident(range: Range<usize>) -> Option<usize> {
    /// Pages of one call: two default stacks; bounds an array on the stack. Arbitrary.
    const PAGES: usize = 128;
    let page = page_size();
    let mut resident = [0; PAGES];
    let start = range.start / page * page;
    let mut end = range.end.next_multiple_of(page);
    let mut lowest = None;
    while start < end {
        let run = start.max(end.saturating_sub(PAGES * page));
        let address = ptr::without_provenance_mut(run);
        let flags = resident.as_mut_ptr().cast();
        // SAFETY: only asks about the pages; the vector has room for a byte for each.
        if unsafe { libc::mincore(address, end - run, flags) } != 0 {
            return None;
        }
        let pages = &resident[..(end - run) / page];
        let Some(first) = pages.iter().position(|&flags: &u8| flags & 1 != 0) else {
            break;
        };
        lowest = Some(run + first * page);
        end = run;
    }
    lowest
}

/// # Safety
/// As [`open`].
unsafe fn protect(start: NonNull<u8>, len: usize, rights: i32) -> io::Result<()> {
    // SAFETY: as the caller says.
    let result = unsafe { libc::mprotect(start.as_ptr().cast(), len, rights) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Asks for small pages only. A kernel without huge pages refuses, which does no harm.
///
/// # Safety
/// 1. `start..start + len` is a mapping that only the caller uses.
#[cfg(any(target_os = "linux", target_os = "android"))]
unsafe fn no_huge_pages(start: *mut u8, len: usize) {
    // SAFETY: 1; advice changes no contents.
    unsafe { libc::madvise(start.cast(), len, libc::MADV_NOHUGEPAGE) };
}

/// Does nothing: there are no huge pages to avoid.
///
/// # Safety
/// None; the other implementation has a contract.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
unsafe fn no_huge_pages(_start: *mut u8, _len: usize) {}

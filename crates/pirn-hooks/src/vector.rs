//! Arrays of parts (`iovec`) of which some bytes have been moved.

use std::slice;

use libc::iovec;

/// Returns the parts that a caller passes.
///
/// # Safety
/// `parts` points to `count` parts, or `count` is 0.
pub(crate) unsafe fn parts<'a>(parts: *const iovec, count: usize) -> &'a [iovec] {
    match parts.is_null() {
        true => &[],
        // SAFETY: the caller's promise.
        false => unsafe { slice::from_raw_parts(parts, count) },
    }
}

/// Returns the number of bytes in all parts.
pub(crate) fn total(parts: &[iovec]) -> usize {
    let lengths = parts.iter().map(|part| part.iov_len);
    lengths.fold(0, usize::saturating_add)
}

/// Returns the parts without the first `moved` bytes.
pub(crate) fn rest(parts: &[iovec], mut moved: usize) -> Vec<iovec> {
    let mut rest = Vec::with_capacity(parts.len());
    for part in parts {
        let skipped = moved.min(part.iov_len);
        moved -= skipped;
        if part.iov_len > skipped {
            rest.push(iovec {
                iov_base: part.iov_base.wrapping_byte_add(skipped),
                iov_len: part.iov_len - skipped,
            });
        }
    }
    rest
}

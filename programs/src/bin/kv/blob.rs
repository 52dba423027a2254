//! Large byte strings: shared by the connections that receive or send them and by the store.

use std::mem;
use std::ops::Deref;
use std::sync::Arc;

/// A large byte string. Clones share it; the last one frees it, without blocking a worker.
///
/// The last owner must not hold a lock: it may wait for a thread.
#[derive(Debug, Clone)]
pub(crate) struct Blob(Arc<Vec<u8>>);

impl Blob {
    pub(crate) fn new(bytes: Vec<u8>) -> Blob {
        Blob(Arc::new(bytes))
    }

    /// Changes the bytes in place; of a blob with other owners, copies them first.
    pub(crate) fn change<T>(&mut self, change: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        change(Arc::make_mut(&mut self.0))
    }

    /// The memory behind the blob.
    pub(crate) fn memory(&self) -> usize {
        self.0.capacity() + size_of::<Vec<u8>>() + 2 * size_of::<usize>()
    }
}

impl Deref for Blob {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Blob {
    fn drop(&mut self) {
        if let Some(bytes) = Arc::get_mut(&mut self.0) {
            free(mem::take(bytes));
        }
    }
}

/// Frees bytes; many of them on a thread of `blocking`, since the system takes about 0.2 ms for
/// each megabyte.
///
/// They are freed in steps: the system locks the memory of the process while it releases some of
/// it, and a worker that allocates would wait for all of it.
pub(crate) fn free(mut bytes: Vec<u8>) {
    if bytes.capacity() < SLOW {
        return;
    }
    pirn::blocking(move || {
        while let Some(rest) = bytes.capacity().checked_sub(SLOW) {
            bytes.truncate(rest);
            bytes.shrink_to(rest);
        }
    });
}

/// From this size on freeing takes longer than waking a thread; also the size of a step. Arbitrary.
const SLOW: usize = 1 << 20;

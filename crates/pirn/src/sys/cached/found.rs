//! What a read has found in memory.

/// What was in memory.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Cached {
    /// So many bytes have been read.
    pub(crate) n: usize,
    /// A read that may wait would have come to the same.
    pub(crate) all: bool,
}

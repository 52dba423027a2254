//! What a read has found in memory.

/// So many bytes have been read; and what the rest is.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Cached {
    pub(crate) n: usize,
    pub(crate) rest: Rest,
}

/// What has not been read of what was asked for.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Nothing: a read that may wait would have come to the same.
    Nothing,
    /// The system would have to wait for it.
    Away,
    /// The system does not say.
    Unknown,
}

impl Cached {
    /// Nobody has looked.
    pub(crate) const UNKNOWN: Cached = Cached {
        n: 0,
        rest: Rest::Unknown,
    };
}

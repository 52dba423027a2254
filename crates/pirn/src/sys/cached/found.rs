//! The result of a read from the system's memory.

/// The number of bytes that were read, and the state of the rest.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Cached {
    pub(crate) n: usize,
    pub(crate) rest: Rest,
}

/// The part of a request that was not read.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Rest {
    /// No part is left: a read that may wait would have returned the same.
    Nothing,
    /// The system would have to wait for it.
    Away,
    /// The system does not say.
    Unknown,
}

impl Cached {
    /// The system was not asked.
    pub(crate) const UNKNOWN: Cached = Cached {
        n: 0,
        rest: Rest::Unknown,
    };
}

//! Elsewhere: a read does not say whether it would wait.

use std::fs::File;

use super::Cached;

/// Returns false: not known here.
pub(crate) fn may_be_cached(_: &File) -> bool {
    false
}

/// Reads nothing.
pub(crate) fn read_cached(_: &File, _: &mut [u8], _: Option<u64>) -> Cached {
    Cached::UNKNOWN
}

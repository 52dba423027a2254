//! No samples of threads.

use super::{EndOfStack, Sample};

/// Returns `None`.
pub(crate) fn sample(_thread: u32, _end: EndOfStack) -> Option<Sample> {
    None
}

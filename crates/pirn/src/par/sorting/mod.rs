//! Sorting: the public functions, the division of the work, and the merge.

#[expect(unsafe_code, reason = "copies items from one memory to another")]
mod merge;
mod merge_sort;
mod sort;

pub use sort::{
    sort, sort_by, sort_by_key, sort_unstable, sort_unstable_by, sort_unstable_by_key,
};

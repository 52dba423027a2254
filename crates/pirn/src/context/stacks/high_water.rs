//! The high-water mark of the stacks of a pool: how deep the deepest one has been touched.
//!
//! Owns: the search for it, which asks the system which pages are in memory. So it costs nothing
//! before a report asks for it. Does not own: which slots there are (`extent`), or advice on the
//! size of stacks (`observe::stack_use`).
//!
//! A stack that comes back keeps its pages while it is warm, so fibers that have ended count too.
//! When a stack becomes cold, its mark is lost.

use super::extent::Made;
use super::layout::Layout;
use super::touched::touched;

/// The most stacks that are looked at, those with the lowest addresses first: they are used most.
/// Each costs 0.65 µs (measured). Arbitrary: some milliseconds for a report.
const LOOKED_AT: usize = 4_096;

/// The high-water mark of the stacks of one size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HighWater {
    /// Bytes that frames may use in each.
    pub(crate) size: usize,
    /// The number of stacks that have been used so far.
    pub(crate) stacks: usize,
    /// Bytes above the lowest touched page, in the deepest stack; whole pages.
    pub(crate) touched: usize,
}

impl HighWater {
    /// Returns the mark of the slots that have been used in these reservations of `layout`. They
    /// stay mapped meanwhile.
    pub(super) fn of(layout: Layout, extents: &[Made]) -> HighWater {
        let slots = extents.iter().flat_map(|extent| {
            let start = move |slot| extent.base + slot * layout.stride();
            (0..extent.slots).map(start)
        });
        let touched = slots
            .take(LOOKED_AT)
            .map(|slot| touched(layout.limit(slot)..slot + layout.stride()));
        HighWater {
            size: layout.size,
            stacks: extents.iter().map(|extent| extent.slots).sum(),
            touched: touched.max().unwrap_or(0),
        }
    }
}

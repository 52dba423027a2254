//! Magazines: the free headers of one thread, in its record.

use std::cell::UnsafeCell;

use super::fiber_ptr::FiberHead;
use crate::base::list::Fifo;

/// The number of classes of blocks, by size (`slab`).
pub(crate) const CLASSES: usize = 3;

/// The free blocks of one thread: two magazines for each class. With two, a thread that alternates
/// between allocating and freeing when one is full or empty does not go to the store each time.
pub(super) struct Magazines(pub(super) [UnsafeCell<Pair>; CLASSES]);

pub(super) struct Pair {
    /// For allocations and frees.
    pub(super) loaded: Fifo<FiberHead>,
    /// Full or empty.
    pub(super) spare: Fifo<FiberHead>,
}

impl Magazines {
    pub(super) const fn new() -> Self {
        Magazines(
            [const {
                UnsafeCell::new(Pair {
                    loaded: Fifo::new(),
                    spare: Fifo::new(),
                })
            }; CLASSES],
        )
    }
}

//! Pointers to fibers, for files below the header: queues, tickets, waiters and the scheduler's
//! trait.
//!
//! Owns: the pointer, and the two words behind it that queues and wakers access. Does not own: the
//! rest of the header (`header`), which names the types that hold such pointers.

use std::mem::offset_of;
use std::ptr::NonNull;

use super::state::StateWord;
use crate::base::list::{Link, Linked, NodePtr};

/// The first two words of each header.
#[repr(C)]
pub(crate) struct FiberHead {
    pub(crate) state: StateWord,
    link: Link<FiberHead>,
}

/// A pointer to a header, which is never freed (H1). Its provenance covers the whole block.
/// Dereferencing it is safe; the plain fields of the header are the owner's only (H2), which no
/// type checks.
pub(crate) type FiberPtr = NodePtr<FiberHead>;

impl FiberHead {
    pub(super) fn new() -> FiberHead {
        FiberHead {
            state: StateWord::new(),
            link: Link::new(),
        }
    }
}

// SAFETY: the link is a field of the header, used by one queue at a time (H2).
unsafe impl Linked for FiberHead {
    #[inline(always)]
    fn link(node: NonNull<Self>) -> NonNull<Link<Self>> {
        // SAFETY: H1: in bounds of a valid header.
        unsafe { node.byte_add(offset_of!(FiberHead, link)) }.cast()
    }
}

/// A counted reference to a header, which every public handle holds.
#[derive(Debug)]
pub(crate) struct FiberRef(FiberPtr);

// SAFETY: H1, H4: the count keeps the identity, H2 guards the rest.
unsafe impl Send for FiberRef {}
// SAFETY: as above.
unsafe impl Sync for FiberRef {}

impl FiberRef {
    /// Takes over one reference.
    ///
    /// # Safety
    /// The caller owns one that no other code will release.
    pub(crate) unsafe fn from_owned(fiber: FiberPtr) -> FiberRef {
        FiberRef(fiber)
    }

    #[inline(always)]
    pub(crate) fn ptr(&self) -> FiberPtr {
        self.0
    }
}

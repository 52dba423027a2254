//! The owner's handle of a stack: one word that points to the record at the stack's top.
//!
//! The record is on the stack's own top page, so a parked fiber with few frames keeps one page and
//! no other memory for its stack.
//!
//! # Invariants
//! * SK1. A `Stack` is the only handle to its slot, from the pool's `take` to its `give`; the
//!   slot is mapped, readable and writable from `limit` up to its end, and trapping in the
//!   guard below, for all that time.
//! * SK2. The record is written before the handle is made and keeps all but `owner` until the
//!   slot goes cold. Frames lie below the record, so they never overlap it.

use std::fmt;
use std::ops::Range;
use std::ptr::{self, NonNull};
// Not from `shim`: a signal handler reads the word, which a model must never drive.
use std::sync::atomic::{AtomicPtr, Ordering};

/// The record at the top of each stack. One cache line.
#[repr(C, align(64))]
pub(super) struct StackTop {
    /// The owner that the report of an overflow names, by `describe`. Written by the owner of the
    /// handle; read by the handlers, on any thread that faults in the guard or is on it.
    owner: AtomicPtr<()>,
    /// Lowest usable address, just above the guard.
    limit: usize,
    /// The position of the slot in the pool.
    place: Place,
}

/// The pool's address of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) class: u32,
    pub(super) extent: u32,
    pub(super) slot: u32,
}

/// One stack, owned. It must return to the pool it came from; if it is dropped, it is lost.
#[must_use = "a stack that is not given back is lost"]
pub(crate) struct Stack(NonNull<StackTop>);

// SAFETY: SK1: the handle is the only way to the slot, on any thread.
unsafe impl Send for Stack {}

impl Stack {
    /// Writes the record of a slot and returns its handle.
    ///
    /// # Safety
    /// 1. `top` is where the layout puts the record of the slot `place`. That slot's usable memory
    ///    starts at `limit` and is mapped as SK1 says.
    /// 2. No other handle to the slot exists, and none will be made before this one is given back.
    pub(super) unsafe fn new(
        top: NonNull<StackTop>,
        limit: usize,
        place: Place,
    ) -> Stack {
        let record = StackTop {
            owner: AtomicPtr::new(ptr::null_mut()),
            limit,
            place,
        };
        // SAFETY: 1: mapped and, by the layout, aligned; 2: no other code reads it.
        unsafe { top.write(record) };
        Stack(top)
    }

    fn top(&self) -> &StackTop {
        // SAFETY: SK1, SK2: mapped and written while this handle lives.
        unsafe { self.0.as_ref() }
    }

    /// Returns the number of bytes that frames may use.
    pub(crate) fn size(&self) -> usize {
        self.range().len()
    }

    /// Returns the usable addresses; the stack starts at the end and grows downwards.
    pub(crate) fn range(&self) -> Range<usize> {
        self.top().limit..self.0.addr().get()
    }

    /// Returns the end of the usable memory, with the right to write below it.
    pub(in crate::context) fn base(&self) -> NonNull<u8> {
        self.0.cast()
    }

    pub(super) fn place(&self) -> Place {
        self.top().place
    }

    /// Sets the owner that the overflow handler reports; null for none.
    ///
    /// # Safety
    /// 1. Until the owner is set anew or the stack is unmapped, `owner` stays valid for
    ///    the function that was passed to `install_overflow_handler`: a stray access
    ///    may fault in the guard of a stack that was given back.
    #[inline]
    pub(crate) unsafe fn set_owner(&self, owner: *const ()) {
        self.top().owner.store(owner.cast_mut(), Ordering::Relaxed);
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = self.range();
        write!(f, "Stack({:#x}..{:#x})", range.start, range.end)
    }
}

/// Returns the owner recorded at `top`.
///
/// # Safety
/// 1. `top` is the place of a record in a slot that has been opened, so it is mapped. The
///    record may be all zeros.
pub(super) unsafe fn owner_at(top: *const StackTop) -> *const () {
    // SAFETY: 1: mapped; any bit pattern is a pointer.
    let owner = unsafe { &raw const (*top).owner };
    // SAFETY: as above, and atomics may be read while another thread writes.
    unsafe { &*owner }.load(Ordering::Relaxed)
}

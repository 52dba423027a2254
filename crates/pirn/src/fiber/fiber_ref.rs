//! References to fibers: the count in a header, and the calls on a fiber by its handles.

use super::current::{self, Local};
use super::fiber_ptr::{FiberPtr, FiberRef};
use super::header::Header;
use super::slab;
use super::waking::Wake;

impl Header {
    /// Releases one reference; the last one recycles the header.
    ///
    /// # Safety
    /// The caller owns the reference and does not use it again.
    #[inline]
    pub(crate) unsafe fn release(fiber: FiberPtr) {
        if fiber.header().give_reference_back() {
            Header::recycle(current::local(), fiber);
        }
    }

    /// As [`release`](Self::release), on the caller's own thread.
    ///
    /// # Safety
    /// As for [`release`](Self::release).
    #[inline]
    pub(crate) unsafe fn release_on(local: &Local, fiber: FiberPtr) {
        if fiber.header().give_reference_back() {
            Header::recycle(local, fiber);
        }
    }

    /// Returns the header of a fiber without references (H4) to its slab.
    #[inline]
    fn recycle(local: &Local, fiber: FiberPtr) {
        let header = fiber.header();
        if header.has_label() {
            header.drop_label();
        }
        slab::free(local, fiber);
    }
}

impl FiberRef {
    /// Returns a further reference to a fiber that the caller knows to be referenced.
    pub(crate) fn of(fiber: FiberPtr) -> FiberRef {
        fiber.header().retain();
        // SAFETY: the reference that has just been added.
        unsafe { FiberRef::from_owned(fiber) }
    }

    #[inline(always)]
    pub(crate) fn header(&self) -> &Header {
        self.ptr().header()
    }

    /// True if there is no other reference. What the others did came before.
    pub(crate) fn is_sole(&self) -> bool {
        self.header().has_one_reference()
    }

    /// Gives the token; wakes the fiber if it waits for one.
    pub(crate) fn unpark(&self) {
        if self.header().state.unpark() {
            Wake::of(self.ptr()).enqueue();
        }
    }

    /// Asks the fiber to stop: interrupts its current wait and all later ones, and cancels the
    /// fibers that it has spawned in scopes.
    pub(crate) fn cancel(&self) {
        if self.header().state.cancel() {
            Wake::of(self.ptr()).enqueue();
        }
        // After the bit is set (RG4). A finished fiber has left all its regions.
        let own = self.header().join.lock().own.clone();
        if let Some(own) = own {
            own.cancel();
        }
    }
}

impl Clone for FiberRef {
    fn clone(&self) -> Self {
        FiberRef::of(self.ptr())
    }
}

impl Drop for FiberRef {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this reference is owned and ends here.
        unsafe { Header::release(self.ptr()) };
    }
}

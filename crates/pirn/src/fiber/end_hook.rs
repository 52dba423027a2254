//! End hooks: the function that a scope, a group or a thread has called at the end of a fiber.

use super::fiber_ptr::FiberPtr;
use super::waking::Wake;

/// The function that is called at a fiber's end, besides waking its joiners.
#[derive(Copy, Clone)]
pub(crate) struct EndHook {
    pub(crate) table: &'static EndTable,
    pub(crate) data: *const (),
}

/// The functions of an [`EndHook`].
///
/// # Safety
/// A caller passes the `data` of the hook that it took the table from, while the fiber has that
/// hook (H2). Each installer of a hook says why its `data` is there until then.
pub(crate) struct EndTable {
    /// Called once, by the party that owns the fiber at its end, after its joiners were woken: the
    /// fiber itself, or the one that refuses it.
    pub(crate) ended: unsafe fn(data: *const (), fiber: FiberPtr, ending: Ending),
    /// A panic that is kept in the payload (`keeps_panic`) will not be joined: its handle has
    /// been dropped after the end.
    pub(crate) panic_left: unsafe fn(data: *const ()),
    /// The fiber, which is fresh, waits for a stack, or no longer waits (`stackless`). Called under
    /// a lock; the wakes are due after it.
    pub(crate) set_stackless:
        unsafe fn(data: *const (), stackless: bool, wakes: &mut Vec<Wake>),
}

/// How a fiber has ended. When the hook is called, the outcome belongs to the joiners (H5).
#[derive(Debug, Copy, Clone)]
pub(crate) struct Ending {
    pub(crate) panicked: bool,
    /// The handle was already dropped.
    pub(crate) detached: bool,
}

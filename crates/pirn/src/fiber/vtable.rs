//! The table of operations on the payload of a header.

use super::fiber_ptr::FiberPtr;

/// Operations on a payload with erased types. All of them may unwind, with a panic of user code.
/// The caller catches it, once for all types: compiled for every closure, that would be a quarter
/// of the code of a program with many small fibers.
///
/// # Safety
/// A caller passes a fiber of the header that has this table, and has the right to its payload
/// (H5): `run` and `drop_closure` once, while the closure is there; `drop_value` once, while the
/// result is there.
pub(crate) struct Vtable {
    /// Takes the closure out, runs it and leaves its result.
    pub(super) run: unsafe fn(FiberPtr),
    /// Takes the closure out and drops it.
    pub(super) drop_closure: unsafe fn(FiberPtr),
    /// Drops the result in the payload; none if that does nothing.
    pub(super) drop_value: Option<unsafe fn(FiberPtr)>,
}

/// The table of a header that has held no closure.
static NONE: Vtable = Vtable {
    run: no_closure,
    drop_closure: no_closure,
    drop_value: None,
};

fn no_closure(_: FiberPtr) {
    unreachable!("a header without a closure is not run");
}

impl Vtable {
    /// Returns the table of a header that has held no closure.
    pub(super) fn none() -> &'static Vtable {
        &NONE
    }
}

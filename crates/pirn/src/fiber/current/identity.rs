//! The caller's identity, a fiber's header or one that stands for its thread, and its clock.

use std::panic::Location;
use std::ptr;
use std::time::Instant;

use super::here;
use super::record::Local;
use crate::fiber::end_hook::{EndHook, EndTable, Ending};
use crate::fiber::fiber_ptr::FiberPtr;
use crate::fiber::header::Header;
use crate::fiber::local::destroy::destroy_all;
use crate::fiber::schedule::Schedule;
use crate::fiber::{slab, thread_registry};
use crate::shim;

/// The scheduler of a plain thread, and of a fiber while it blocks its thread in place: a wake
/// unparks the parker in the header.
pub(crate) struct BlockInPlace;

impl Schedule for BlockInPlace {
    fn schedule(&self, fiber: FiberPtr) {
        fiber.header().parker.unpark();
    }
}

/// The message of the panic in a start hook that would wait for fibers: its worker runs none before
/// the hook has returned.
pub(crate) const IN_START_HOOK: &str =
    "an on_thread_start hook waits for fibers of the runtime that it is part of";

/// Refuses a wait for fibers in a start hook, which may be those of its runtime.
///
/// # Panics
/// In the start hook of any runtime.
#[track_caller]
pub(crate) fn refuse_in_start_hook(local: &Local) {
    assert!(local.starting().is_null(), "{IN_START_HOOK}");
}

/// Returns the caller's present moment: by its runtime's clock on a fiber, else by the real one.
#[inline]
pub(crate) fn now(local: &Local) -> Instant {
    if local.time_is_virtual() {
        return virtual_now(local);
    }
    shim::now()
}

#[cold]
fn virtual_now(local: &Local) -> Instant {
    match local.fiber() {
        Some(fiber) => fiber.header().home().now(local),
        None => shim::now(),
    }
}

/// As [`identity`], but none for a thread that has not needed one yet.
#[inline]
pub(crate) fn known(local: &Local) -> Option<FiberPtr> {
    local.fiber().or(local.plain_thread())
}

/// Returns the number of the fiber that runs here, or of the thread if it has an identity.
#[inline]
pub(crate) fn number(local: &Local) -> Option<u64> {
    match local.fiber() {
        Some(fiber) => Some(fiber.header().id()),
        None => number_of_thread(local),
    }
}

#[cold]
fn number_of_thread(local: &Local) -> Option<u64> {
    local.plain_thread().map(|fiber| fiber.header().id())
}

/// Returns the fiber that runs here. On a thread's own stack, returns the header that stands for
/// the thread, borrowed from the slab at the first call and returned when the thread ends.
#[inline]
pub(crate) fn identity(local: &Local) -> FiberPtr {
    match local.fiber() {
        Some(fiber) => fiber,
        None => identity_of_thread(local),
    }
}

#[cold]
fn identity_of_thread(local: &Local) -> FiberPtr {
    if let Some(header) = local.plain_thread() {
        return header;
    }
    let header = Header::alone(local, 0, Location::caller(), &BlockInPlace);
    header.header().set_on_end(Some(EndHook {
        table: &HOOK,
        data: ptr::null(),
    }));
    local.set_plain_thread(Some(header));
    thread_registry::enter(header);
    slab::at_thread_exit();
    header
}

/// The end hook of a plain thread's header.
static HOOK: EndTable = EndTable {
    ended: end_identity,
    panic_left: |_| {},
    set_stackless: |_, _, _| {},
};

/// Ends the use of a plain thread's header, which goes back to the slab after that. Called by the
/// thread itself when it ends.
fn end_identity(_: *const (), header: FiberPtr, _: Ending) {
    // First: destructors may create locals or wait, for which the thread needs its identity.
    destroy_all(header.header());
    here::local().set_plain_thread(None);
    thread_registry::leave(header);
    // Ends the epoch of the thread's remaining tickets, so that none wakes the header's next user.
    header.state.finish();
}

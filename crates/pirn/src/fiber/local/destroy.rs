//! The end of fiber-locals: dropped by their fiber when its closure has ended.

use std::any::Any;
use std::ptr::NonNull;

use super::values::Locals;
use crate::base::drop_guard::drop_caught;
use crate::fiber::header::Header;

/// Drops all locals of a fiber that has ended, newest first, except for lasting ones. A destructor
/// may create new ones, which are dropped too, and may use the lasting ones. UNWIND: a panic in a
/// destructor ends that destructor only.
#[inline]
pub(crate) fn destroy(header: &Header) {
    if header.has_locals() {
        destroy_own(header);
    }
}

/// As [`destroy`], and then drops the lasting ones, too.
#[inline]
pub(crate) fn destroy_all(header: &Header) {
    if header.has_locals() {
        destroy_own(header);
        let lasting = take_list(header).map_or_else(Vec::new, |locals| locals.0);
        lasting
            .into_iter()
            .for_each(|entry| drop_caught(entry.value));
    }
}

/// Drops all but the lasting locals, and the list if it is empty then.
#[cold]
fn destroy_own(header: &Header) {
    while let Some(value) = take_newest(header) {
        drop_caught(value);
    }
    // SAFETY: created by `Box::leak` (see `key::with_locals_of`), and in the header.
    let is_empty = |locals: NonNull<Locals>| unsafe { locals.as_ref() }.0.is_empty();
    if header.locals().is_some_and(is_empty) {
        drop(take_list(header));
    }
}

/// Takes the newest value that is not a lasting one out of the list, which stays in the header:
/// the destructor finds the others there.
fn take_newest(header: &Header) -> Option<Box<dyn Any>> {
    let mut locals = header.locals()?;
    // SAFETY: created by `Box::leak` (see `key::with_locals_of`), and in the header; no user code
    // runs while it is borrowed.
    let entries = unsafe { &mut locals.as_mut().0 };
    let newest = entries.iter().rposition(|entry| !entry.lasting)?;
    Some(entries.remove(newest).value)
}

/// Takes the list out of the header.
fn take_list(header: &Header) -> Option<Box<Locals>> {
    let locals = header.take_locals()?;
    // SAFETY: created by `Box::leak` (see `key::with_locals_of`); taken out of the header, so no
    // other code owns it.
    Some(unsafe { Box::from_raw(locals.as_ptr()) })
}

//! The end of fiber-locals: dropped by their fiber when its closure has ended.

use std::ptr::NonNull;

use super::values::{Entry, Locals};
use crate::base::drop_guard::drop_caught;
use crate::fiber::header::Header;

/// Drops all locals of a fiber that has ended, newest first, except for lasting ones. A destructor
/// may create new ones, which are dropped too. UNWIND: a panic in a destructor ends that destructor
/// only.
#[inline]
pub(crate) fn destroy(header: &Header) {
    if header.has_locals() {
        let lasting = destroy_own(header);
        if !lasting.is_empty() {
            let locals = NonNull::from(Box::leak(Box::new(Locals(lasting))));
            header.set_locals(Some(locals));
        }
    }
}

/// As [`destroy`], and then drops the lasting ones, too.
#[inline]
pub(crate) fn destroy_all(header: &Header) {
    if header.has_locals() {
        let lasting = destroy_own(header);
        lasting
            .into_iter()
            .for_each(|entry| drop_caught(entry.value));
    }
}

/// Drops all but the lasting locals, and returns these.
#[cold]
fn destroy_own(header: &Header) -> Vec<Entry> {
    let mut lasting = Vec::new();
    while let Some(locals) = header.take_locals() {
        // SAFETY: created by `Box::leak` (see `key::with_locals`); taken out of the header, so no
        // other code owns it.
        let mut locals = unsafe { Box::from_raw(locals.as_ptr()) };
        while let Some(entry) = locals.0.pop() {
            match entry.lasting {
                true => lasting.push(entry),
                false => drop_caught(entry.value),
            }
        }
    }
    lasting
}

//! The report of a fiber that has overflowed its stack.

use std::fmt::Write;
use std::ptr::NonNull;

use crate::context::{self, SignalWriter};
use crate::fiber::describe_owner;

/// Installs the report of overflows with fiber names. Idempotent.
pub(super) fn install() {
    context::install_overflow_handler(describe);
}

/// Called in a signal handler, on the thread of the fiber that overflowed. The fiber cannot end
/// meanwhile, and the function neither allocates nor locks.
fn describe(owner: *const (), out: &mut SignalWriter) {
    match NonNull::new(owner.cast_mut()) {
        Some(owner) => describe_owner(owner, out),
        None => {
            let _ = out.write_str("a fiber");
        }
    }
}

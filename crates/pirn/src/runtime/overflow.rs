//! What is said of a fiber that has overflowed its stack.

use std::fmt::Write;
use std::ptr::NonNull;

use crate::context::{self, SignalWriter};
use crate::fiber::describe_owner;

/// Has overflows reported by name. Any number of times.
pub(super) fn install() {
    context::install_overflow_handler(describe);
}

/// Called in a signal handler, on the thread whose fiber overflowed: the fiber cannot end
/// meanwhile, and nothing here allocates or locks.
fn describe(owner: *const (), out: &mut SignalWriter) {
    match NonNull::new(owner.cast_mut()) {
        Some(owner) => describe_owner(owner, out),
        None => {
            let _ = out.write_str("a fiber");
        }
    }
}

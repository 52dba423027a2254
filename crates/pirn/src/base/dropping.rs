//! Dropping what belongs to the user where a panic must not get out.

use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops `value`. UNWIND: a panic of its destructor ends here (the panic hook has told of
/// it), and that panic's payload is leaked: its own destructor could panic again.
pub(crate) fn drop_caught<T>(value: T) {
    end_caught(|| drop(value));
}

/// Calls `f`, which is the user's in part; a panic ends here, as in [`drop_caught`].
pub(crate) fn end_caught(f: impl FnOnce()) {
    let _leaked = ManuallyDrop::new(catch_unwind(AssertUnwindSafe(f)));
}

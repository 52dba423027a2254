//! Dropping what belongs to the user where a panic must not get out.

use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops `value`. UNWIND: a panic of its destructor ends here; the panic hook has told of it.
pub(crate) fn drop_caught<T>(value: T) {
    end_caught(|| drop(value));
}

/// Calls `f`, which is the user's in part; a panic ends here, as in [`drop_caught`].
pub(crate) fn end_caught(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(payload)));
        // A payload that panics when it is dropped may well leave one that does so too: the
        // second is leaked.
        let _leaked = ManuallyDrop::new(dropped);
    }
}

//! Drops values of the user, and calls functions, where a panic must not escape.

use std::any::Any;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::abort;

/// Drops `value`. UNWIND: a panic of its destructor ends here; the panic hook has reported it.
pub(crate) fn drop_caught<T>(value: T) {
    end_caught(|| drop(value));
}

/// Calls `f`, which may run code of the user; a panic ends here, as in [`drop_caught`].
pub(crate) fn end_caught(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        drop_payload(payload);
    }
}

/// Calls `f`. A panic of it ends the process: other code still uses what its caller would unwind.
pub(crate) fn abort_on_unwind<T>(f: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| {
        eprintln!("pirn: a panic where none may unwind");
        abort()
    })
}

/// Drops the payload of a panic, and those of the panics that this raises.
#[cold]
fn drop_payload(payload: Box<dyn Any + Send>) {
    let mut caught = Err(payload);
    for _ in 0..PAYLOADS {
        match caught {
            Ok(()) => return,
            Err(payload) => caught = catch_unwind(AssertUnwindSafe(|| drop(payload))),
        }
    }
    // Each dropped payload has raised another one: the last is leaked.
    let _leaked = ManuallyDrop::new(caught);
}

/// The most payloads that are dropped, if each panics again. Arbitrary: two are already a strange
/// program.
const PAYLOADS: u32 = 8;

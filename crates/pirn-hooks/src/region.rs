//! The code in which calls park.

use pirn::dev::hooks;

use crate::signals::is_in_handler;

/// Calls `f`; calls of libc in it park the calling fiber in place of its thread.
///
/// Fibers that `f` spawns do not inherit it: they call `within` themselves, or run on a runtime
/// that was built with [`hooks`](pirn::runtime::Builder::hooks). On a plain thread `within` only
/// calls `f`.
///
/// # Panics
/// If the runtime was built with `free_migration`, or if `f` panics.
///
/// # Cancellation
/// The calls in `f` are interruption points, as the [crate] describes; `within` is not.
///
/// # Examples
/// ```
/// use std::time::{Duration, Instant};
///
/// let runtime = pirn::runtime::Builder::new().workers(1).build()?;
/// let start = Instant::now();
/// runtime.run(|| {
///     pirn::scope(|s| {
///         for _ in 0..50 {
///             s.spawn(|| {
///                 pirn_hooks::within(|| std::thread::sleep(Duration::from_millis(50)))
///             });
///         }
///     })
/// });
/// assert!(start.elapsed() < Duration::from_secs(2));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn within<T>(f: impl FnOnce() -> T) -> T {
    in_region(true, f)
}

/// Calls `f`; calls of libc in it block the thread, as outside of [`within`].
///
/// For code during which no other fiber of the thread may run: it holds a lock, or keeps a
/// thread-local borrowed.
///
/// # Panics
/// If `f` panics.
///
/// # Cancellation
/// Not an interruption point.
///
/// # Examples
/// ```
/// use std::io::{Read, pipe};
/// use std::sync::Mutex;
///
/// static FIRST: Mutex<Vec<u8>> = Mutex::new(Vec::new());
///
/// # fn main() -> std::io::Result<()> {
/// let (mut from, to) = pipe()?;
/// drop(to);
/// pirn::run(|| {
///     pirn_hooks::within(|| {
///         // The lock is held over the read, so no other fiber may run meanwhile.
///         pirn_hooks::without(|| from.read_to_end(&mut FIRST.lock().unwrap()))
///     })
/// })?;
/// # Ok(())
/// # }
/// ```
pub fn without<T>(f: impl FnOnce() -> T) -> T {
    in_region(false, f)
}

fn in_region<T>(parks: bool, f: impl FnOnce() -> T) -> T {
    let _restore = Restore(hooks::set_parking(Some(parks)));
    f()
}

/// Returns whether a call of the running code parks its fiber.
#[inline]
pub(crate) fn is_parking() -> bool {
    hooks::is_parking() && !is_in_handler() && hooks::is_own_process()
}

/// Returns whether the caller is a fiber that may park here, for a call that does not begin with an
/// attempt.
pub(crate) fn may_park() -> bool {
    is_parking() && hooks::is_surely_own_process()
}

/// Restores what was set before, also when the code in between panics.
struct Restore(Option<bool>);

impl Drop for Restore {
    fn drop(&mut self) {
        hooks::set_parking(self.0);
    }
}

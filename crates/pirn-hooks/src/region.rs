//! The code in which calls park.

use std::process;
use std::sync::OnceLock;

use pirn::dev::hooks;

use crate::forks;
use crate::signals::is_in_handler;

/// The process with the fibers that park. A child of `fork` has a copy of one fiber and none of the
/// other threads, and shares the epoll instances; a child of `vfork` shares the memory, too. Code in
/// a child, as between `fork` and `exec`, must not run other fibers.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// Calls `f`; calls of libc in it park the calling fiber in place of its thread.
///
/// The effect is limited to the calling fiber: fibers that `f` spawns call `within` themselves. On a
/// plain thread `within` only calls `f`.
///
/// # Panics
/// If the runtime was built with `free_migration`, and if `f` panics.
///
/// # Cancellation
/// Not an interruption point itself. The calls in `f` are, as the [crate](crate) describes.
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
/// For code that must not leave its thread between two calls: it holds a lock of its own, or keeps
/// a thread-local borrowed.
///
/// # Panics
/// If `f` panics.
///
/// # Cancellation
/// Not an interruption point.
///
/// # Examples
/// ```
/// use std::{thread, time::Duration};
///
/// pirn::run(|| {
///     pirn_hooks::within(|| {
///         pirn_hooks::without(|| thread::sleep(Duration::from_millis(1)));
///     });
/// });
/// ```
pub fn without<T>(f: impl FnOnce() -> T) -> T {
    in_region(false, f)
}

fn in_region<T>(parks: bool, f: impl FnOnce() -> T) -> T {
    PROCESS.get_or_init(watch_forks);
    let _restore = Restore(hooks::set_parking(parks));
    f()
}

/// Returns this process, and has children of `fork` notice that they are others.
fn watch_forks() -> u32 {
    forks::watch();
    process::id()
}

/// Returns false in a child of `fork`.
pub(crate) fn is_own_process() -> bool {
    !forks::is_child()
}

/// Returns false in any child that shares or copies the memory. A system call.
pub(crate) fn is_own_memory() -> bool {
    PROCESS.get().is_none_or(|own| *own == process::id())
}

/// Returns whether a call of the running code parks its fiber.
#[inline]
pub(crate) fn is_parking() -> bool {
    hooks::is_parking() && !is_in_handler()
}

/// Returns whether the caller is a fiber that may park here, for a call that does not begin with an
/// attempt.
pub(crate) fn may_park() -> bool {
    is_parking() && is_own_process()
}

/// Restores what was set before, also when the code in between panics.
struct Restore(bool);

impl Drop for Restore {
    fn drop(&mut self) {
        hooks::set_parking(self.0);
    }
}

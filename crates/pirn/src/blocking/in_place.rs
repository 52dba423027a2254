//! [`block_in_place`]: announces that a fiber is about to block its thread.

use crate::fiber::current;
use crate::sched::worker::enqueue::Absence;

/// Runs `f`, which blocks its thread or computes for long, on the calling fiber, and returns its
/// result. Other workers take over the fibers of this worker that have not started.
///
/// A hint, for code that cannot run elsewhere (it borrows values that are not `Send`) or is not
/// worth moving. The runtime recovers without the hint too, some time later. Fibers queued on this
/// worker go to other workers at once. If all of those are busy, a thread is started for them, as
/// far as [`Builder::max_threads`](crate::runtime::Builder::max_threads) permits. Fibers that have
/// started on this worker wait, since they cannot run anywhere else.
/// [`blocking`](crate::blocking()) does not delay them.
///
/// On a plain thread this only calls `f`.
///
/// # Panics
/// With the panic of `f`.
///
/// # Cancellation
/// Not an interruption point; suspends only if `f` does.
///
/// # Examples
/// ```
/// pirn::run(|| {
///     let text = pirn::blocking::block_in_place(|| std::fs::read_to_string("/dev/null"));
///     assert_eq!(text.unwrap(), "");
/// });
/// ```
pub fn block_in_place<T>(f: impl FnOnce() -> T) -> T {
    let _absence = Absence::begin(current::local());
    f()
}

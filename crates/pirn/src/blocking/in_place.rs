//! [`block_in_place`]: a fiber says that it is about to block its thread.

use crate::fiber::current;
use crate::sched::place::Absence;

/// Runs `f`, which blocks its thread or computes for long, right here; other workers take over
/// what has not started meanwhile.
///
/// A hint, for code that cannot go elsewhere (it borrows what is not `Send`) or is not worth
/// the way: all is well without it too, some time later. What is queued on this worker goes
/// to others now, and if all of those are busy, a thread is started for it (as far as
/// [`Builder::max_threads`](crate::runtime::Builder::max_threads) lets it). Fibers that have started on this worker
/// wait: they cannot run anywhere else. [`blocking`](crate::blocking()) does
/// not hold them up.
///
/// On a plain thread this calls `f` and nothing else.
///
/// # Panics
/// With the panic of `f`.
///
/// # Cancellation
/// Not an interruption point; suspends only if `f` does.
///
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

//! Long computations, on threads beside the workers.

use std::panic::Location;

use crate::fiber::current;
use crate::sched::worker::enqueue;
use crate::scope::scope;
use crate::spawn::Builder;

/// Runs `f`, a long computation, on a thread beside the runtime's workers, and returns its result.
///
/// A fiber that computes without a wait delays all fibers that have started on the same worker.
/// `compute` avoids that for computations of more than a few milliseconds. It costs two wake-ups of
/// a thread, about 40 µs each. Use [`par`](crate::par) for work that can be divided: its loops
/// yield by themselves. Use [`blocking`](crate::blocking()) for code that blocks in the system.
///
/// `f` may borrow. It runs as a fiber of the caller's runtime, under the caller's token and
/// deadline. So `f` may spawn, send and wait, and [`checkpoint`](crate::spawn::checkpoint) in its
/// loops returns a cancellation. There are at most as many such threads as workers, and at most
/// twice as many while computations wait for their turn.
///
/// `f` runs on the caller's own thread if
/// * the caller is a plain thread, or is inside another `compute`;
/// * the runtime has [no threads to add](crate::runtime::Builder::max_threads);
/// * the runtime does not [spread](crate::runtime::Builder::spread) its fibers.
///
/// # Panics
/// With the panic of `f`. Like every wait, inside a future's poll on a worker.
///
/// # Cancellation
/// Not an interruption point: returns only when `f` has ended.
///
/// # Blocking
/// Parks the calling fiber until `f` has ended.
///
/// # Examples
/// ```
/// let words = ["stackful", "fibers"];
/// let letters = pirn::run(|| pirn::compute(|| words.concat().len()));
/// assert_eq!(letters, 14);
/// ```
#[doc(alias = "spawn_blocking")]
#[track_caller]
pub fn compute<F, T>(f: F) -> T
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    let local = current::local();
    if local.fiber().is_none() || !enqueue::may_start_apart(local) {
        return f();
    }
    let location = Location::caller();
    let mut result = None;
    let slot = &mut result;
    let refused = scope(|s| {
        let apart = Builder::new().apart(true);
        let run = move || *slot = Some(f());
        // The spawn returns `run` if the runtime has been shut down.
        s.spawn_obliged(location, apart, run).err().map(|run| run())
    });
    debug_assert!(refused.is_none() || result.is_some(), "it has run");
    result.expect("a scope ends after its fibers")
}

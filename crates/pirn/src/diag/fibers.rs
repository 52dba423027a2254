//! What every fiber does: the list of all, for programs to go through.

use crate::runtime::Handle;
use crate::sched::fiber_info::FiberInfo;
use crate::sched::registry;

/// Every started fiber of every runtime, with what it waits for.
///
/// Each worker tells of its own fibers, between two of their runs. So one report is not one
/// moment: what is told of two workers may be some microseconds apart. Of a worker that does not
/// answer within 50 ms, because the fiber that it runs computes or sits in a system call, only
/// that fiber is told. Fibers that have not started are not listed
/// ([`dump`](super::dump()) counts them).
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Blocking
/// Blocks the calling thread, under a fiber too: for as long as the workers take to go through
/// their fibers (some hundred nanoseconds each; microseconds for those of which it has a
/// backtrace), for 50 ms if some worker does not answer. A worker with hundreds of fibers goes through them
/// in pieces of a quarter of a millisecond, and runs other fibers in between; so the thread waits for longer, for
/// 10 s at most.
///
/// # Examples
/// ```
/// use pirn::diag::{self, State};
///
/// let runtime = pirn::Runtime::new().unwrap();
/// let fiber = runtime.spawn(pirn::park);
/// while !diag::fibers().iter().any(|fiber| fiber.state == State::Parked) {
///     std::thread::yield_now();
/// }
/// fiber.fiber().unpark();
/// ```
#[must_use]
pub fn fibers() -> Vec<FiberInfo> {
    let pools = registry::pools().into_iter();
    pools
        .flat_map(|pool| pool.describe_all().fibers())
        .collect()
}

impl Handle {
    /// Every started fiber of this runtime, as [`diag::fibers`](crate::diag::fibers()).
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Blocking
    /// Like [`diag::fibers`](crate::diag::fibers()).
    #[must_use]
    pub fn fibers(&self) -> Vec<FiberInfo> {
        self.pool().describe_all().fibers()
    }
}

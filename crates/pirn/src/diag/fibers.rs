//! A list of all fibers and their waits, for programs.

use crate::observe::report::describe_all;
use crate::report::fiber_info::FiberInfo;
use crate::runtime::Handle;
use crate::sched::pool::registry;

/// Returns every started fiber of every runtime, with what it waits for.
///
/// Each worker reports its own fibers, between two of their runs. So a report is not a snapshot of
/// one moment: the parts of two workers may be some microseconds apart. A worker does not answer
/// within 50 ms if its running fiber computes or is in a system call. Then only that fiber is
/// reported for it. Fibers that have not started are not listed ([`dump`](super::dump()) counts
/// them).
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Blocking
/// Blocks the calling thread, also on a fiber, while the workers walk through their fibers. That
/// takes some hundred nanoseconds for each fiber, or microseconds with a backtrace. It takes 50 ms
/// if some worker does not answer. A worker with hundreds of fibers walks in pieces of a quarter of
/// a millisecond and runs other fibers in between. So the thread waits longer, for 10 s at most.
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
#[doc(alias = "GoroutineProfile")]
#[must_use]
pub fn fibers() -> Vec<FiberInfo> {
    let pools = registry::pools().into_iter();
    pools
        .flat_map(|pool| describe_all(&pool).fibers())
        .collect()
}

impl Handle {
    /// Returns every started fiber of this runtime, like [`diag::fibers`](crate::diag::fibers()).
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Blocking
    /// Like [`diag::fibers`](crate::diag::fibers()).
    ///
    /// # Examples
    /// ```
    /// use pirn::diag::State;
    ///
    /// let runtime = pirn::Runtime::builder().workers(1).build()?;
    /// runtime.run(|| {
    ///     let fiber = pirn::spawn(pirn::park);
    ///     pirn::yield_now(); // It runs, and parks.
    ///     let fibers = runtime.fibers();
    ///     assert!(fibers.iter().any(|fiber| fiber.state == State::Parked));
    ///     fiber.fiber().unpark();
    /// });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "GoroutineProfile")]
    #[must_use]
    pub fn fibers(&self) -> Vec<FiberInfo> {
        describe_all(self.pool()).fibers()
    }
}

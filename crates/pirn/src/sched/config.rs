//! The parts of a pool: plain values, checked by the code that creates one (`runtime::builder`,
//! `dispatcher`).

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use crate::context::StackConfig;
use crate::events::Watch;
use crate::fiber::panic_payload::Witness;
use crate::sched::placement::lines::Spread;
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
use crate::sys::Process;

/// The scheduler of a runtime.
///
/// # Examples
/// ```
/// use pirn::runtime::Scheduler;
///
/// assert_eq!(Scheduler::default(), Scheduler::WorkStealing);
/// let runtime = pirn::Runtime::builder().scheduler(Scheduler::SingleQueue).build()?;
/// assert_eq!(runtime.run(|| 7), 7);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Scheduler {
    /// Per-worker queues and work stealing.
    #[default]
    WorkStealing,
    /// One locked queue for fibers that have not started: the baseline that work stealing
    /// has to beat, and an oracle for tests.
    SingleQueue,
}

/// A callback of the user's, run on worker threads.
pub(crate) type Hook = Arc<dyn Fn() + Send + Sync>;

/// The configuration of a pool; all values are valid.
pub(crate) struct Config {
    pub(crate) name: String,
    pub(crate) workers: usize,
    pub(crate) scheduler: Scheduler,
    pub(crate) stacks: StackConfig,
    /// Makes the pool deterministic; it has one worker then.
    pub(crate) seed: Option<SeedConfig>,
    /// A worker starts no fiber while it has one that has started. With
    /// [`Scheduler::SingleQueue`] only.
    pub(crate) exclusive: bool,
    pub(crate) threads: ThreadConfig,
    /// There are no threads; the one worker is driven by the user.
    pub(crate) by_hand: bool,
    /// Started fibers may resume on any worker. Not with `seed`, `exclusive` or `by_hand`.
    pub(crate) free: bool,
    pub(crate) spread: Spread,
    #[cfg(all(target_os = "linux", not(pirn_modelled)))]
    pub(crate) libc: LibcCalls,
    /// The system itself reads files, where this is built in and supported.
    pub(crate) io_uring: bool,
    /// Called with panics that no joiner takes.
    pub(crate) on_panic: Option<Witness>,
    /// A value of the user's for the code that runs here; the pool only keeps it.
    pub(crate) attached: Option<Arc<dyn Any + Send + Sync>>,
    pub(crate) watch: Watch,
    /// The observers of the pool (`sched::observer`); the pool only keeps them.
    pub(crate) observers: Box<dyn Any + Send + Sync>,
}

/// The choices for calls of libc, where `pirn-hooks` is linked.
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
pub(crate) struct LibcCalls {
    /// They park their fiber.
    pub(crate) park: bool,
    /// The process that made the pool. In others they do not.
    pub(crate) process: Process,
}

/// The choices of a deterministic pool.
#[derive(Copy, Clone)]
pub(crate) struct SeedConfig {
    pub(crate) seed: u64,
    /// How long of real time the pool holds its virtual time for descriptors.
    pub(crate) outside: Duration,
}

/// The threads of a pool.
pub(crate) struct ThreadConfig {
    /// The maximum number of worker threads, including those that replace stuck ones; at least
    /// `workers`.
    pub(crate) most: usize,
    /// Each worker runs on one of these only; on any if there are none.
    pub(crate) processors: Vec<usize>,
    /// If set, all threads exist from the start, and this many stacks.
    pub(crate) prewarm: Option<usize>,
    /// How long a worker's thread stays without fibers; indefinitely if `None`.
    pub(crate) keep: Option<Duration>,
    pub(crate) on_start: Option<Hook>,
    pub(crate) on_stop: Option<Hook>,
}

impl Config {
    /// Returns how fibers are spread over the workers (`lines`): never where they migrate, nor with
    /// a single queue.
    pub(super) fn spread_in_effect(&self) -> Spread {
        let can = self.scheduler == Scheduler::WorkStealing
            && self.seed.is_none()
            && !self.exclusive
            && !self.by_hand
            && !self.free;
        if can { self.spread } else { Spread::Never }
    }
}

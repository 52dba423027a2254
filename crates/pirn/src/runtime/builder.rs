//! Configuring a runtime.

use std::any::Any;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::diagnostics::{self, Diagnostics};
use super::environment::{self, Environment};
use super::instance::Runtime;
use super::overflow;
use super::settings::{Stacks, Testing, Threads};
use crate::context::{self, StackConfig};
use crate::fiber::panic_payload::{PanicInfo, Witness};
use crate::observe::{self, Deadlock};
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
use crate::sched::config::LibcCalls;
use crate::sched::config::{Config, Scheduler, SeedConfig, ThreadConfig};
use crate::sched::placement::lines::Spread;
use crate::sched::pool::shared::Pool;
use crate::sys;

/// The default size of a stack. Its address range is reserved; memory is committed page by page as
/// it is touched. Arbitrary: ordinary work fits (`tests/machine/stacks.rs`), and more would cost
/// address space only.
const STACK_SIZE: usize = 256 << 10;

/// The default limit of a runtime's threads. The same as Tokio's for blocking work.
const MOST_THREADS: usize = 512;

/// The settings of a new [`Runtime`]. They take precedence over the environment.
///
/// # Examples
/// ```
/// use pirn::Runtime;
///
/// let runtime = Runtime::builder().name("web").workers(2).stack_size(64 << 10).build()?;
/// let fiber = runtime.spawn(|| (1..=4).product::<u32>());
/// assert_eq!(fiber.join().unwrap(), 24);
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "ThreadPoolBuilder")]
#[must_use]
pub struct Builder {
    name: String,
    threads: Threads,
    stacks: Stacks,
    scheduler: Scheduler,
    pub(super) seed: Option<u64>,
    pub(super) testing: Testing,
    deadlock: Option<Deadlock>,
    free: bool,
    spread: Spread,
    hooks: bool,
    io_uring: Option<bool>,
    on_panic: Option<Witness>,
    /// The user's value attached to the runtime's handle.
    pub(super) attached: Option<Arc<dyn Any + Send + Sync>>,
    pub(super) diagnostics: Diagnostics,
}

impl Builder {
    /// Creates a builder with default settings.
    ///
    /// # Examples
    /// ```
    /// use pirn::runtime::Builder;
    ///
    /// let runtime = Builder::new().build()?;
    /// assert_eq!(runtime.run(|| 7), 7);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new() -> Builder {
        Builder {
            name: "pirn".to_owned(),
            threads: Threads::default(),
            stacks: Stacks::default(),
            scheduler: Scheduler::default(),
            seed: None,
            testing: Testing::default(),
            deadlock: None,
            free: cfg!(pirn_free),
            spread: Spread::default(),
            hooks: false,
            io_uring: None,
            on_panic: None,
            attached: None,
            diagnostics: Diagnostics::default(),
        }
    }

    /// Sets the prefix of the threads' names; by default `pirn`.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().name("web").workers(1).build()?;
    /// let name = runtime.run(|| std::thread::current().name().map(str::to_owned));
    /// assert_eq!(name.as_deref(), Some("web-0"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "thread_name")]
    pub fn name(mut self, name: impl Into<String>) -> Builder {
        self.name = name.into();
        self
    }

    /// Sets how many workers run fibers; by default the number of cores that the process may use.
    /// At most 1024. Overrides `PIRN_WORKERS`.
    ///
    /// With 0 there are no threads. Fibers run on a thread that drives the runtime, by
    /// [`run_until_idle`](super::Handle::run_until_idle), [`run`](super::Handle::run) or
    /// [`wait_idle`](super::Handle::wait_idle), always the same one. A thread that waits for them
    /// in another way, by a join or a scope, waits until that thread drives the runtime. The end of
    /// the runtime drives it too, if it happens on that thread; on another thread it waits for that
    /// one.
    ///
    /// **Fibers that have started on a thread must end before it does**, because they may borrow
    /// from its thread-locals. So drive until they have ended, or shut the runtime down. If a
    /// thread ends while some are left, the runtime is cancelled, as by
    /// [`shutdown`](super::Runtime::shutdown), and driven once more before the destructors of
    /// thread-locals run. If fibers are left after a second, a message names them, and **the
    /// process is aborted**. The same happens when that thread calls `exit`, or is the main thread
    /// and `main` returns. If no started fiber is left, the thread only calls
    /// [`on_thread_stop`](Self::on_thread_stop), and another thread may drive the runtime.
    ///
    /// Three limits:
    /// * The loops and joins of [`par`](crate::par) do not yield there: no thread watches. Where
    ///   other fibers have to run meanwhile, use [`checkpoint`](crate::spawn::checkpoint).
    /// * When a fiber calls `exit`, its thread cannot run other fibers any more, and the
    ///   destructors of thread-locals run although fibers have not ended. Plain threads have the
    ///   same problem: `exit` destroys data that frames below it have lent to other threads.
    /// * On systems other than Linux with glibc, thread-locals first used after the end of the
    ///   thread's first drive may be destroyed before its fibers have ended. There, fibers must not
    ///   outlive the drives of a thread that ends.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().workers(2).build()?;
    /// assert_eq!(runtime.workers(), 2);
    ///
    /// // Without workers, this thread drives the runtime.
    /// let runtime = pirn::Runtime::builder().workers(0).build()?;
    /// let fiber = runtime.spawn(|| 7);
    /// runtime.run_until_idle();
    /// assert_eq!(fiber.join().unwrap(), 7);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "worker_threads")]
    #[doc(alias = "num_threads")]
    #[doc(alias = "GOMAXPROCS")]
    pub fn workers(mut self, workers: usize) -> Builder {
        self.threads.workers = Some(workers);
        self
    }

    /// Sets the most threads of workers; by default 512 or the number of workers, whichever is
    /// more, and 1 for a runtime with one worker.
    ///
    /// A started fiber stays on its thread, unless it may [migrate](Self::free_migration). A fiber
    /// may block its thread or compute for long while others wait that have not started. Then the
    /// runtime starts additional threads for as long as that lasts. The number of threads that
    /// use a processor at a time is normally that of the workers, and at most twice that; threads
    /// that wait in the system are not counted. An additional thread that is no longer needed ends
    /// within two seconds after the last fiber that started there. Its two descriptors, for waits
    /// on sockets, stay for the next additional thread.
    ///
    /// Values at or below the number of workers disable additional threads. Values above 512 are
    /// clamped to 512, or to the number of workers if that is more.
    /// [`Handle::set_workers`](super::Handle::set_workers) is not bound by this limit. Has no
    /// effect on a deterministic runtime or on one without workers.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().workers(1).max_threads(4).build()?;
    /// let (tx, rx) = std::sync::mpsc::channel();
    /// let blocks = runtime.spawn(move || rx.recv()); // blocks its thread
    /// let sends = runtime.spawn(move || tx.send(7)); // starts on an additional thread
    /// assert_eq!(blocks.join().unwrap(), Ok(7));
    /// assert!(sends.join().unwrap().is_ok());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "max_blocking_threads")]
    #[doc(alias = "SetMaxThreads")]
    pub fn max_threads(mut self, threads: usize) -> Builder {
        self.threads.most = Some(threads);
        self
    }

    /// Sets how fibers are distributed over the workers when they start; by default [by the history
    /// of their spawn line](Spread::ByHistory).
    ///
    /// Has no effect on a deterministic runtime, on one without workers, with
    /// [`Scheduler::SingleQueue`], and where fibers may [migrate](Self::free_migration). There a
    /// fiber starts on the worker that finds it first.
    /// [`Handle::spawn_lines`](super::Handle::spawn_lines) returns the history.
    ///
    /// # Examples
    /// ```
    /// use pirn::runtime::Spread;
    ///
    /// let runtime = pirn::Runtime::builder().workers(2).spread(Spread::Evenly).build()?;
    /// let fibers: Vec<_> = (0..4).map(|n| runtime.spawn(move || n)).collect();
    /// let sum: i32 = fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum();
    /// assert_eq!(sum, 6);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn spread(mut self, spread: Spread) -> Builder {
        self.spread = spread;
        self
    }

    /// Sets whether calls of libc park the fibers of this runtime, as inside `pirn_hooks::within`;
    /// by default not.
    ///
    /// Needs the crate `pirn-hooks`, which has the rules and `without`, to exclude a piece of code.
    /// Without that crate [`build`](Self::build) fails. It also fails if fibers may
    /// [migrate](Self::free_migration): code between two calls of libc may rely on its thread.
    ///
    /// # Examples
    /// ```
    /// let builder = pirn::Runtime::builder().workers(1).hooks(true);
    /// // This program does not link `pirn-hooks`.
    /// let error = builder.build().unwrap_err();
    /// assert!(error.to_string().contains("`use pirn_hooks as _;`"));
    /// ```
    pub fn hooks(mut self, parks: bool) -> Builder {
        self.hooks = parks;
        self
    }

    /// Sets whether each worker runs on one processor only; by default not. The n-th worker uses
    /// the n-th processor available to the thread that builds the runtime, modulo their number;
    /// additional threads continue the count. Useful where no other work runs on the machine.
    /// Otherwise a worker may wait for its processor while another one is free. Threads that code on
    /// a worker creates without this crate, and processes by [`std::process`], inherit its one
    /// processor.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().workers(1).pin_workers(true).build()?;
    /// let processors = runtime.run(std::thread::available_parallelism)?;
    /// # #[cfg(target_os = "linux")]
    /// assert_eq!(processors.get(), 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn pin_workers(mut self, pinned: bool) -> Builder {
        self.threads.pinned = pinned;
        self
    }

    /// Creates the threads of all workers, and `stacks` stacks with memory, when the runtime is
    /// built. So the first burst of fibers does not wait for them. Useful for at most as many
    /// stacks as [`stack_cache`](Self::stack_cache) keeps. By default both are created when they
    /// are needed.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().workers(2).prewarm(16).build()?;
    /// let fibers: Vec<_> = (0..16).map(|n| runtime.spawn(move || n)).collect();
    /// let sum: i32 = fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum();
    /// assert_eq!(sum, 120);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn prewarm(mut self, stacks: usize) -> Builder {
        self.stacks.prewarm = Some(stacks);
        self
    }

    /// Sets the stack size of each fiber in bytes; by default 256 KiB, from 16 KiB to 1 TiB. Memory
    /// is committed only as a stack is touched. Overrides `PIRN_STACK_SIZE`.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().stack_size(1 << 20).build()?;
    /// let sum = runtime.run(|| [1_u8; 300 << 10].iter().map(|&n| u64::from(n)).sum::<u64>());
    /// assert_eq!(sum, 300 << 10);
    ///
    /// let too_small = pirn::Runtime::builder().stack_size(1 << 10).build();
    /// assert!(too_small.is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "thread_stack_size")]
    #[doc(alias = "SetMaxStack")]
    pub fn stack_size(mut self, bytes: usize) -> Builder {
        self.stacks.size = Some(bytes);
        self
    }

    /// Sets how many idle stacks keep their memory; by default 256.
    ///
    /// # Examples
    /// ```
    /// // Memory is scarce: at most eight idle stacks keep theirs.
    /// let runtime = pirn::Runtime::builder().stack_cache(8).build()?;
    /// assert_eq!(runtime.run(|| pirn::spawn(|| 7).join().unwrap()), 7);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn stack_cache(mut self, stacks: usize) -> Builder {
        self.stacks.cache = stacks;
        self
    }

    /// Sets the most stacks at a time, which is the most fibers that can have started and not
    /// ended; by default unlimited. Further fibers queue until a stack is free.
    ///
    /// The bound is exceeded in one case: a fiber waits, by a join, a scope or a group, for a fiber
    /// that finds no stack, without a time limit. The waiter cannot run, so it does not count. The
    /// other fiber starts on a stack beyond the bound, one fiber at a time for each waiter. So
    /// scopes may nest deeper than there are stacks, and a bound of `n` applies to the fibers that
    /// do not wait so. (A cancelled waiter resumes; the other stack stays until its fiber ends.)
    ///
    /// Fibers that wait for each other in other ways, as by a channel, need their stacks at the
    /// same time. A bound below their number can make them wait indefinitely. A message on standard
    /// error reports once that fibers wait for a stack.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().max_stacks(2).build()?;
    /// let sum = runtime.run(|| {
    ///     let fibers: Vec<_> = (0..8).map(|n| pirn::spawn(move || n)).collect();
    ///     fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum::<i32>()
    /// });
    /// assert_eq!(sum, 28);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn max_stacks(mut self, stacks: usize) -> Builder {
        self.stacks.most = stacks;
        self
    }

    /// Sets whether positioned file reads ([`FileExt`](std::os::unix::fs::FileExt)) that must wait
    /// for a disk use io_uring, on Linux 6.1 and later; by default yes. If the system refuses
    /// io_uring, they run on a thread, as without it. Overrides `PIRN_IO_URING`, which is 0 or 1.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().io_uring(false).build()?;
    /// assert_eq!(runtime.run(|| 7), 7);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(feature = "io_uring")]
    pub fn io_uring(mut self, yes: bool) -> Builder {
        self.io_uring = Some(yes);
        self
    }

    /// Sets the scheduler; by default work stealing.
    ///
    /// # Examples
    /// ```
    /// use pirn::runtime::Scheduler;
    ///
    /// let runtime = pirn::Runtime::builder().scheduler(Scheduler::SingleQueue).build()?;
    /// assert_eq!(runtime.run(|| pirn::spawn(|| 7).join().unwrap()), 7);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn scheduler(mut self, scheduler: Scheduler) -> Builder {
        self.scheduler = scheduler;
        self
    }

    /// Makes the runtime deterministic, for tests. The interaction of its fibers is the same in
    /// every run with the same seed, and their time is virtual.
    ///
    /// There is one worker. Whenever it is free it picks one of the ready fibers at random. It does
    /// so also before each operation that may wait, such as a lock, a send or a receive, whether
    /// the operation waits or not. These choices, and those of a select, are derived from `seed`.
    /// For choices before other operations too, for other strategies, and for shorter failures see
    /// the crate `pirn-sim`.
    ///
    /// [`time::now`](crate::time::now) starts at the real time and does not advance while fibers
    /// run. When none is ready it jumps to the next moment that a fiber waits for: sleeps, time
    /// limits, deadlines and intervals take no time. They have a resolution of one microsecond, and
    /// moments nine or more years ahead never come. After 100,000 choices without such a jump each
    /// choice takes a microsecond, so a fiber that yields until some time has passed ends. One that
    /// computes until then does so indefinitely.
    ///
    /// Time does not jump while a fiber waits for [`blocking`](crate::blocking()), for a file, or
    /// for the [`run`](super::Handle::run) of another runtime. For a limit of real time
    /// ([`outside_limit`](Self::outside_limit)), it does not jump either while a fiber waits for a
    /// socket, a pipe or a child process, or for the end of another runtime: its drop,
    /// [`shutdown`](super::Runtime::shutdown) and [`wait_idle`](super::Handle::wait_idle). Other
    /// threads use the real clock, and virtual time does not wait for them. If a thread sends to a
    /// channel, a receive with a time limit from it times out at once. Effects of threads come at any
    /// moment, and the seed does not reproduce them. Nor does it reproduce results of the system or
    /// of a fiber's own random generator.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel;
    ///
    /// let order = |seed| {
    ///     let runtime = pirn::Runtime::builder().deterministic(seed).build().unwrap();
    ///     runtime.run(|| {
    ///         let (tx, rx) = channel::unbounded();
    ///         for n in 0..8 {
    ///             let tx = tx.clone();
    ///             drop(pirn::spawn(move || tx.send(n)));
    ///         }
    ///         drop(tx);
    ///         rx.iter().collect::<Vec<i32>>()
    ///     })
    /// };
    /// assert_eq!(order(7), order(7));
    /// ```
    #[doc(alias = "start_paused")]
    #[doc(alias = "rng_seed")]
    #[doc(alias = "synctest")]
    pub fn deterministic(mut self, seed: u64) -> Builder {
        self.seed = Some(seed);
        self
    }

    /// Sets the response to fibers that can never resume; by default they are
    /// [reported](Deadlock::Report). Overrides `PIRN_DEADLOCK`.
    ///
    /// One thread of the process checks for two conditions, once a second while anything runs:
    /// * A cycle of fibers that wait without a time limit. Each waits for a mutex or a write lock
    ///   that the next one holds, or for the end of the next one, by a join or a scope. While other
    ///   fibers run, the check covers the first ten thousand fibers of each worker.
    /// * Standstill: every worker sleeps and no timer is armed, and every other thread of the
    ///   process sleeps in this library without a time limit. This must have been so a second
    ///   before as well. A thread that waits elsewhere may wake a fiber, so there is no standstill
    ///   then; nor is there one while a fiber or thread waits for a [signal](crate::signal), or for
    ///   a token that a signal cancels. For a thread that waits here and may wake one, see
    ///   [`external_wait`](crate::diag::external_wait). Standstill is detected on Linux only.
    ///
    /// # Examples
    /// ```
    /// use pirn::runtime::Deadlock;
    ///
    /// // In production: a process that cannot make progress is to be restarted.
    /// let runtime = pirn::Runtime::builder().deadlock(Deadlock::Abort).build()?;
    /// assert_eq!(runtime.run(|| pirn::spawn(|| 7).join().unwrap()), 7);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn deadlock(mut self, deadlock: Deadlock) -> Builder {
        self.deadlock = Some(deadlock);
        self
    }

    /// Allows started fibers to resume on any worker, and not only on the one that started them. So
    /// a fiber need not wait behind another that blocks its thread or computes. This needs a free
    /// worker, or an additional thread within [`max_threads`](Self::max_threads) (by default none
    /// with one worker). At most twice as many fibers compute at a time as there are workers; if
    /// more compute, others wait. In return a wake or a timer costs one or two locks more, and two
    /// fibers that communicate may run on two processors.
    ///
    /// Every waiting call of this library may return on another thread than it was called on. These
    /// are joins, channels, locks, sleeps, scopes, yields, and every operation that may use up a
    /// fiber's budget. Between two such calls a fiber stays on its thread, and also while it
    /// unwinds. A fiber spawned [`unconfined`](crate::dispatcher::Dispatcher::unconfined) starts on
    /// its caller's worker, and both may leave it. Dispatchers other than this runtime, a
    /// deterministic runtime and one without workers are not affected. [`build`](Self::build) fails
    /// if [`hooks`](Self::hooks) is set too. See [the guide](crate::guide::migration).
    ///
    /// # Safety
    /// Code that runs on this runtime's fibers, including that of libraries it calls, must keep
    /// none of the following across such a call:
    /// * a value that shares data with a thread, such as an `Rc` cloned out of a thread-local (a
    ///   fiber's own `Rc`s, with no other owner, may be kept);
    /// * a reference into a thread-local value, or data that the compiler may keep across the call,
    ///   such as the address of a `#[thread_local]` or `thread_local!` value that the same function
    ///   reads before and after it;
    /// * a value that belongs to a thread: a guard of a lock of `std` (including that of standard
    ///   output), a `std::thread::scope`, an entered span, or a handle of a system library that
    ///   must be used on the thread that created it.
    ///
    /// # Examples
    /// ```
    /// let builder = pirn::Runtime::builder().workers(2);
    /// // SAFETY: the fibers below keep nothing of a thread across a wait.
    /// let runtime = unsafe { builder.free_migration() }.build()?;
    /// assert_eq!(runtime.run(|| pirn::spawn(|| 7).join().unwrap()), 7);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub unsafe fn free_migration(mut self) -> Builder {
        self.free = true;
        self
    }

    /// Sets a hook that is called on each worker's thread before it runs its first fiber. The
    /// thread is then still a plain one; its name ends with the number of the worker, from 0. This
    /// runtime is the [current](super::Handle::current) one, unless the thread has entered another.
    /// The hook may spawn fibers on it, but not wait for them, because they may need this
    /// very thread. [`run`](super::Handle::run), scopes and [`wait_idle`](super::Handle::wait_idle)
    /// of this runtime panic in it, and so do joining any fiber that has not ended, and waits of a
    /// [`TaskGroup`](crate::scope::TaskGroup). A panic in
    /// the hook is caught.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let started = Arc::new(AtomicUsize::new(0));
    /// let count = Arc::clone(&started);
    /// let runtime = pirn::Runtime::builder()
    ///     .workers(1)
    ///     .on_thread_start(move || _ = count.fetch_add(1, Ordering::Relaxed))
    ///     .build()?;
    /// runtime.run(|| assert_eq!(started.load(Ordering::Relaxed), 1));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "start_handler")]
    pub fn on_thread_start(mut self, hook: impl Fn() + Send + Sync + 'static) -> Builder {
        self.threads.on_start = Some(Arc::new(hook));
        self
    }

    /// Sets a hook that is called on each worker's thread after it has run its last fiber. The
    /// thread is a plain one again, and a drop of the runtime waits for it. A panic in the hook is
    /// caught.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let stopped = Arc::new(AtomicUsize::new(0));
    /// let count = Arc::clone(&stopped);
    /// let runtime = pirn::Runtime::builder()
    ///     .workers(1)
    ///     .on_thread_stop(move || _ = count.fetch_add(1, Ordering::Relaxed))
    ///     .build()?;
    /// runtime.run(|| {});
    /// drop(runtime);
    /// assert_eq!(stopped.load(Ordering::Relaxed), 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "exit_handler")]
    pub fn on_thread_stop(mut self, hook: impl Fn() + Send + Sync + 'static) -> Builder {
        self.threads.on_stop = Some(Arc::new(hook));
        self
    }

    /// Sets a hook that is called for each panic of a fiber of this runtime that is otherwise lost.
    /// That is a panic with a handle that was dropped or detached, with a group that was dropped,
    /// or in a scope that raises another panic. It is not called for a panic that is joined, or
    /// that its scope raises, nor for one of half of a [`par::join`](crate::par::join) that raises
    /// the other's, or of a job of an [ordered](crate::channel::ordered) channel without a
    /// receiver. (The panic hook of `std` is called for each panic as it happens.)
    ///
    /// It is called once, by the party that drops the panic. That is the fiber itself, at its end,
    /// if it was detached by then. Otherwise it is the fiber or thread that drops the last handle,
    /// which may belong to no runtime, and may outlive this one. The hook may wait: it then blocks
    /// that party, and its waits are interrupted as that party's own. A panic in the hook is
    /// caught.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let runtime = pirn::Runtime::builder()
    ///     .on_panic(move |panic| _ = tx.send(panic.message().map(str::to_owned)))
    ///     .build()?;
    /// drop(runtime.spawn(|| panic!("unseen")));
    /// assert_eq!(rx.recv(), Ok(Some("unseen".to_owned())));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "panic_handler")]
    #[doc(alias = "unhandled_panic")]
    pub fn on_panic(
        mut self,
        hook: impl Fn(&PanicInfo<'_>) + Send + Sync + 'static,
    ) -> Builder {
        self.on_panic = Some(Arc::new(hook));
        self
    }

    /// Creates the runtime and starts its first worker.
    ///
    /// # Errors
    /// * Kind `InvalidInput`: a value set here, or a `PIRN_*` variable, even one that is overridden
    ///   here, is invalid; the message names it.
    /// * Kind `InvalidInput`: [`hooks`](Self::hooks) is set, and fibers may
    ///   [migrate](Self::free_migration).
    /// * Kind `Unsupported`: the CPU's shadow stack is active in this process.
    /// * Kind `Unsupported`: the system has no Unix sockets, which [`inspect`](Self::inspect)
    ///   needs.
    /// * Kind `OutOfMemory`: the system has no memory for one stack.
    /// * The system's error if it has no memory or no thread available. Also the system's error for
    ///   the file of a [`trace`](Self::trace) or the socket of [`inspect`](Self::inspect); the
    ///   message names it.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Blocking
    /// While the system creates a thread and reserves memory. With [`prewarm`](Self::prewarm) that
    /// is done for all workers.
    ///
    /// # Examples
    /// ```
    /// use std::io::ErrorKind;
    ///
    /// let runtime = pirn::Runtime::builder().workers(2).build()?;
    /// assert_eq!(runtime.run(|| 7), 7);
    ///
    /// let error = pirn::Runtime::builder().max_stacks(0).build().unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::InvalidInput);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn build(self) -> io::Result<Runtime> {
        self.pool().map(Runtime::of)
    }

    /// Makes each worker start a fiber only when it has none; its thread ends when it has had none
    /// for `keep`.
    pub(crate) fn one_fiber_each(mut self, keep: Duration) -> Builder {
        self.scheduler = Scheduler::SingleQueue;
        self.threads.one_fiber_each = Some(keep);
        self
    }

    /// As [`build`](Self::build), for a caller that ends the pool by other means.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub(crate) fn pool(self) -> io::Result<Arc<Pool>> {
        let environment = Environment::read()?;
        let by_hand = self.threads.workers == Some(0);
        let fixed =
            by_hand || self.seed.is_some() || self.threads.one_fiber_each.is_some();
        let free = self.free && !fixed;
        environment::check_name(&self.name)?;
        environment::check_max_stacks(self.stacks.most)?;
        environment::check_hooks(self.hooks, free)?;
        context::check_shadow_stack()?;
        overflow::install();
        let workers = match self.threads.workers.or(environment.workers) {
            _ if self.seed.is_some() => {
                environment::check_deterministic(self.threads.workers)?
            }
            Some(0) if self.threads.workers == Some(0) => 1,
            Some(workers) => environment::check_workers("workers", workers)?,
            None => std::thread::available_parallelism()?
                .get()
                .min(environment::MOST_WORKERS),
        };
        let size = match self.stacks.size {
            Some(size) => environment::check_stack_size("stack_size", size)?,
            None => environment.stack_size.unwrap_or(STACK_SIZE),
        };
        let max_threads = match self.threads.most {
            _ if fixed => workers,
            Some(threads) => threads.min(MOST_THREADS).max(workers),
            None if workers == 1 => 1,
            None => MOST_THREADS.max(workers),
        };
        let (watch, ending) = self.diagnostics.decide(&environment)?;
        if ending.verbose {
            let decided = format!(
                "{workers} workers, at most {max_threads} threads, stacks of {} KiB, {:?}{}",
                size >> 10,
                self.scheduler,
                self.seed
                    .map_or(String::new(), |seed| format!(", seed {seed}")),
            );
            diagnostics::say_start(&self.name, &decided, &watch);
        }
        let inspector = ending.inspector.clone();
        let at_end = ending.into_hook();
        let speaks = at_end.is_some();
        let outside = self.testing.outside_limit;
        let deadlock = self.deadlock.or(environment.deadlock).unwrap_or_default();
        let trial = self
            .seed
            .and_then(|seed| self.testing.trial(seed, deadlock));
        let config = Config {
            name: self.name,
            workers,
            scheduler: self.scheduler,
            seed: self.seed.map(|seed| SeedConfig { seed, outside }),
            exclusive: self.threads.one_fiber_each.is_some(),
            threads: ThreadConfig {
                most: max_threads,
                processors: match self.threads.pinned {
                    true => sys::allowed_processors(),
                    false => Vec::new(),
                },
                prewarm: self.stacks.prewarm,
                keep: self.threads.one_fiber_each,
                on_start: self.threads.on_start,
                on_stop: self.threads.on_stop,
            },
            free,
            spread: self.spread,
            #[cfg(all(target_os = "linux", not(pirn_modelled)))]
            libc: LibcCalls {
                park: self.hooks,
                process: sys::Process::this(),
            },
            io_uring: self.io_uring.or(environment.io_uring) != Some(false),
            by_hand,
            stacks: StackConfig {
                size,
                max_stacks: self.stacks.most,
                cache: self.stacks.cache,
            },
            on_panic: self.on_panic,
            attached: self.attached,
            watch,
            observers: observe::observers(deadlock, trial),
        };
        let pool = Pool::start(config, at_end)?;
        if let Some(inspector) = inspector
            && let Err(error) = inspector.serve(&pool)
        {
            pool.drain();
            return Err(error);
        }
        if speaks {
            observe::at_process_exit(&pool);
        }
        Ok(pool)
    }
}

impl Runtime {
    /// Creates a runtime with default settings.
    ///
    /// # Errors
    /// As [`Builder::build`].
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Blocking
    /// As [`Builder::build`].
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::new()?;
    /// assert_eq!(runtime.spawn(|| 7).join().unwrap(), 7);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new() -> io::Result<Runtime> {
        Builder::new().build()
    }

    /// Returns a builder of a runtime.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().workers(2).build()?;
    /// assert_eq!(runtime.workers(), 2);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn builder() -> Builder {
        Builder::new()
    }
}

/// As [`Runtime::new`].
///
/// # Panics
/// If the runtime cannot be created.
///
/// # Examples
/// ```
/// #[derive(Default)]
/// struct Server {
///     runtime: pirn::Runtime,
///     names: Vec<String>,
/// }
///
/// let server = Server::default();
/// assert_eq!(server.runtime.run(|| server.names.len()), 0);
/// ```
impl Default for Runtime {
    fn default() -> Self {
        Runtime::new()
            .unwrap_or_else(|error| panic!("the runtime could not be made: {error}"))
    }
}

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("name", &self.name)
            .field("workers", &self.threads.workers)
            .field("stack_size", &self.stacks.size)
            .field("scheduler", &self.scheduler)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

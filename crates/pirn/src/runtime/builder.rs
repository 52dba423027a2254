//! Configuring a runtime.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::environment::{self, Environment};
use super::global;
use super::instance::Runtime;
use super::overflow;
use super::testing::Testing;
use super::watching::{self, Watching};
use crate::context::{self, StackConfig};
use crate::fiber::unwound::{PanicInfo, Witness};
use crate::observe;
use crate::sched::config::{Config, Deadlock, Scheduler};
use crate::sched::lines::Spread;
use crate::sched::pool::Pool;
use crate::sys;

/// The default size of a stack. Its address range is reserved; memory is taken page by page
/// as it is touched. Arbitrary: ordinary work fits (`tests/it/stacks.rs`), and more would
/// cost address space only.
const STACK_SIZE: usize = 256 << 10;

/// Idle stacks that a runtime keeps with their memory before it gives memory back.
/// Arbitrary: a few MiB when each has touched some pages; no measurement yet.
const STACK_CACHE: usize = 256;

/// The most threads that a runtime has by itself. The same as Tokio's for blocking work.
const MOST_THREADS: usize = 512;

/// Configures a [`Runtime`]. What is set here wins over the environment.
#[must_use]
pub struct Builder {
    name: String,
    workers: Option<usize>,
    max_threads: Option<usize>,
    pinned: bool,
    prewarm: Option<usize>,
    stack_size: Option<usize>,
    stack_cache: usize,
    max_stacks: usize,
    scheduler: Scheduler,
    pub(super) seed: Option<u64>,
    pub(super) testing: Testing,
    deadlock: Option<Deadlock>,
    free: bool,
    spread: Spread,
    io_uring: Option<bool>,
    /// Each worker has one fiber at a time; its thread stays so long without any.
    one_fiber_each: Option<Duration>,
    on_thread_start: Option<Arc<dyn Fn() + Send + Sync>>,
    on_thread_stop: Option<Arc<dyn Fn() + Send + Sync>>,
    on_panic: Option<Witness>,
    /// What fibers find at their runtime's handle.
    pub(super) attached: Option<Arc<dyn Any + Send + Sync>>,
    pub(super) watching: Watching,
}

/// Why a runtime did not become the default one.
#[derive(Debug)]
#[non_exhaustive]
pub enum InstallError {
    /// There is a default runtime already, installed or made on first use.
    Exists,
    /// The runtime could not be made.
    Io(io::Error),
}

impl Builder {
    /// A builder with everything at its default.
    pub fn new() -> Builder {
        Builder {
            name: "pirn".to_owned(),
            workers: None,
            max_threads: None,
            pinned: false,
            prewarm: None,
            stack_size: None,
            stack_cache: STACK_CACHE,
            max_stacks: usize::MAX,
            scheduler: Scheduler::default(),
            seed: None,
            testing: Testing::default(),
            deadlock: None,
            free: cfg!(pirn_free),
            spread: Spread::default(),
            io_uring: None,
            one_fiber_each: None,
            on_thread_start: None,
            on_thread_stop: None,
            on_panic: None,
            attached: None,
            watching: Watching::default(),
        }
    }

    /// The prefix of its threads' names; by default `pirn`.
    pub fn name(mut self, name: impl Into<String>) -> Builder {
        self.name = name.into();
        self
    }

    /// How many workers run fibers; by default as many as the process may use cores.
    /// Overrides `PIRN_WORKERS`. At most 1024.
    ///
    /// With 0 there are no threads: fibers run on a thread that drives the runtime, by
    /// [`run_until_idle`](super::Handle::run_until_idle), [`run`](super::Handle::run) or
    /// [`wait_idle`](super::Handle::wait_idle), always the same one. Whoever waits
    /// for them in another way, by a join or a scope, waits until that thread drives. The runtime's end drives
    /// it too, on that thread; elsewhere it waits for that thread.
    ///
    /// **The fibers that have started on a thread end before it does**, since they may borrow from its
    /// thread-locals. So drive until they have ended, or shut the runtime down. If a thread ends while some are
    /// left, the runtime is cancelled, as by [`shutdown`](super::Runtime::shutdown), and driven once more, before the
    /// destructors of thread-locals run. If fibers are left after a second, a message names them, and
    /// **the process is aborted**. The same happens when that thread calls `exit`, or is the main thread and `main`
    /// returns. If no fiber that has started is left, the thread just calls
    /// [`on_thread_stop`](Self::on_thread_stop), and another thread may drive the runtime.
    ///
    /// Two limits:
    /// * When a fiber calls `exit`, its thread cannot run other fibers any more, and the destructors of thread-locals
    ///   run although fibers have not ended. Plain threads have the same problem: `exit` destroys what frames below it
    ///   have lent to other threads.
    /// * Elsewhere than on Linux with glibc, thread-locals that were used for the first time after the end of the
    ///   thread's first drive may be destroyed before its fibers have ended. Do not let fibers outlive the
    ///   drives of a thread that ends, there.
    pub fn workers(mut self, workers: usize) -> Builder {
        self.workers = Some(workers);
        self
    }

    /// How many threads of workers there may be; by default 512, or as many as there are
    /// workers, and for a runtime with one worker 1.
    ///
    /// A started fiber stays on its thread, unless it may [migrate](Self::free_migration). So while
    /// one blocks its thread, or computes for long, and others wait that
    /// have not started, the runtime starts threads beside its workers, for as long as that
    /// lasts. As many use the processor at a time as there are workers, at most twice as
    /// many; those that wait in the system come on top. A thread that is
    /// needed no longer ends within two seconds after the last fiber that started there.
    ///
    /// A number that is not more than that of the workers means that there are never more; one
    /// above 512 counts as 512, beside what [`workers`](Self::workers) asks for.
    /// [`Handle::set_workers`](super::Handle::set_workers) is not bound by it. Without effect on
    /// a deterministic runtime and on one without workers.
    pub fn max_threads(mut self, threads: usize) -> Builder {
        self.max_threads = Some(threads);
        self
    }

    /// Sets how fibers are spread over the workers when they start; by default
    /// [by the history of their spawn line](Spread::ByHistory).
    ///
    /// Without effect on a deterministic runtime, on one without workers, with
    /// [`Scheduler::SingleQueue`], and where fibers may [migrate](Self::free_migration): there a fiber starts
    /// on the worker that finds it first. [`Handle::spawn_lines`](super::Handle::spawn_lines)
    /// returns the history.
    pub fn spread(mut self, spread: Spread) -> Builder {
        self.spread = spread;
        self
    }

    /// Whether each worker runs on one processor only, by default not. The n-th worker has the n-th
    /// processor that the thread which builds the runtime may use, counted round; threads that stand in for others
    /// go on counting. Of use where nothing else runs on the machine; elsewhere it keeps a
    /// worker waiting for a processor while another one is free.
    pub fn pin_workers(mut self, pinned: bool) -> Builder {
        self.pinned = pinned;
        self
    }

    /// Has the threads of all workers, and the memory of so many stacks, ready when the runtime is
    /// built, so that the first burst of fibers need not wait for them. Of use for no more
    /// stacks than [`stack_cache`](Self::stack_cache) keeps. By default all is made when it
    /// is needed.
    pub fn prewarm(mut self, stacks: usize) -> Builder {
        self.prewarm = Some(stacks);
        self
    }

    /// Bytes of stack for each fiber, by default 256 KiB; from 16 KiB to 1 TiB. Overrides
    /// `PIRN_STACK_SIZE`. Memory is taken only as a stack is touched.
    pub fn stack_size(mut self, bytes: usize) -> Builder {
        self.stack_size = Some(bytes);
        self
    }

    /// How many idle stacks keep their memory; by default 256.
    pub fn stack_cache(mut self, stacks: usize) -> Builder {
        self.stack_cache = stacks;
        self
    }

    /// How many stacks there may be at once, which is how many fibers can have started and
    /// not ended; by default unlimited. Further fibers queue until a stack is free.
    ///
    /// The bound gives way in one case: a fiber waits, without a limit of time, for the end of a
    /// fiber that finds no stack, by a join, a scope or a group. It cannot run, so it does not
    /// count: the other fiber starts on a stack beyond the bound, for one fiber at a time for each
    /// waiter. So scopes may nest deeper than there are stacks, and a bound of `n` holds for
    /// the fibers that do not wait so. (A cancelled waiter goes on; the other stack stays until its
    /// fiber ends.)
    ///
    /// Fibers that wait for each other in other ways, as by a channel, have to have stacks at
    /// the same time: a bound below their number can make them wait for ever. A message on
    /// standard error says once that fibers wait for a stack.
    pub fn max_stacks(mut self, stacks: usize) -> Builder {
        self.max_stacks = stacks;
        self
    }

    /// Whether reads at a place of a file ([`FileExt`](std::os::unix::fs::FileExt)) that have to wait
    /// for a disk are made by io_uring, on Linux 6.1 and later; by default yes. Where the
    /// system refuses it they are made as without it, on a thread. Overrides `PIRN_IO_URING`, which is 0 or 1.
    #[cfg(feature = "io_uring")]
    pub fn io_uring(mut self, yes: bool) -> Builder {
        self.io_uring = Some(yes);
        self
    }

    /// Which scheduler; by default work stealing.
    pub fn scheduler(mut self, scheduler: Scheduler) -> Builder {
        self.scheduler = scheduler;
        self
    }

    /// Makes the runtime deterministic, for tests: what its fibers do among themselves is the
    /// same in every run with the same seed, and their time is virtual.
    ///
    /// There is one worker. Whenever it is free it picks one of the fibers that are ready, by
    /// chance, and the chances come from `seed`; so do those of a select.
    ///
    /// [`time::now`](crate::time::now) starts at the real time and stands still while fibers
    /// run. When none is ready it jumps to the next moment that one waits for: sleeps,
    /// time limits, deadlines and intervals take no time. They go by whole microseconds, and
    /// what is due in nine years or more never comes. A fiber that yields or computes until
    /// some time has passed does so for ever.
    ///
    /// Time does not jump while a fiber waits for [`blocking`](crate::blocking()), for a file, or for the
    /// [`run`](super::Handle::run) of another runtime; nor, for a limit of real time, while one waits for
    /// a socket, a pipe or a child process ([`outside_limit`](Self::outside_limit)). Other threads have
    /// the real clock, and are not waited for: a fiber that receives from a channel that a
    /// thread sends to sees its time limit pass at once. What threads do comes at any moment, and is not
    /// repeated by the seed; nor is what fibers ask the system or a random generator of their own.
    pub fn deterministic(mut self, seed: u64) -> Builder {
        self.seed = Some(seed);
        self
    }

    /// What is done about fibers that can never go on; by default that is
    /// [reported](Deadlock::Report). Overrides `PIRN_DEADLOCK`.
    ///
    /// Two things are looked for, once a second while anything runs, by one thread of the
    /// process. A circle of fibers each of which waits, without a time limit, for a mutex or
    /// the turn to write that the next one has, or for the next one's end, alone or with its
    /// scope; among the first ten thousand fibers of each worker, as long as others run. And
    /// standstill: every worker sleeps and no timer is armed, every other thread of the process
    /// sleeps in this library as well, without a time limit, and so it was a second before.
    /// A thread that waits elsewhere may wake somebody, so there is no standstill; see
    /// [`external_wait`](crate::diag::external_wait) for one that waits here and may.
    /// Standstill is noticed on Linux only.
    pub fn deadlock(mut self, deadlock: Deadlock) -> Builder {
        self.deadlock = Some(deadlock);
        self
    }

    /// Lets started fibers go on on any worker, and not only on the one that has started them. So
    /// none waits behind another one that blocks its thread or computes, as long as some worker is
    /// free or a thread may be added that stands in ([`max_threads`](Self::max_threads); with one
    /// worker none may by default). At most twice as many compute at a time as there are workers; behind
    /// more of those it waits. In return a wake or a timer costs a lock or two
    /// more, and two fibers that talk may find themselves on two processors.
    ///
    /// Whatever waits in this library may return on another thread than it was called on: joins,
    /// channels, locks, sleeps, scopes, yields, and every operation that may use up a fiber's
    /// budget. Between two such calls a fiber stays on its thread, and so it does while it
    /// unwinds. Where a fiber is [`unconfined`](crate::dispatcher::Dispatcher::unconfined), it starts on its
    /// caller's worker, and both may leave it. Dispatchers other than this runtime, a deterministic
    /// runtime and one without workers are as always. See
    /// [the guide](crate::guide::migration).
    ///
    /// # Safety
    /// Code that runs on this runtime's fibers, that of libraries it calls included, keeps over
    /// such a call
    /// * no value that shares anything with a thread, such as an `Rc` cloned out of a thread-local
    ///   (a fiber's own `Rc`s, which nobody else holds, may go along);
    /// * no reference into a thread-local value, nor anything that the compiler may take from
    ///   one call to the next, as the address of a `#[thread_local]` or `thread_local!` value
    ///   that is read in the same function before and after it;
    /// * no value that belongs to a thread: a guard of a lock of `std` (standard output's included),
    ///   a `std::thread::scope`, an entered span, a handle of a system library that must be used by the thread that made it.
    pub unsafe fn free_migration(mut self) -> Builder {
        self.free = true;
        self
    }

    /// Called on each worker's thread before it runs its first fiber. The thread's name ends with
    /// the number of the worker, from 0. The thread is a plain one then. The hook may spawn fibers on this runtime, but not wait for them, which may
    /// need this very thread: [`run`](super::Handle::run), scopes and
    /// [`wait_idle`](super::Handle::wait_idle) of this runtime panic in it, and so does
    /// joining any fiber that has not ended. A panic in it goes no further.
    pub fn on_thread_start(mut self, hook: impl Fn() + Send + Sync + 'static) -> Builder {
        self.on_thread_start = Some(Arc::new(hook));
        self
    }

    /// Called on each worker's thread after it has run its last fiber. The thread is a plain
    /// one again, and a drop of the runtime waits for it. A panic in it goes no further.
    pub fn on_thread_stop(mut self, hook: impl Fn() + Send + Sync + 'static) -> Builder {
        self.on_thread_stop = Some(Arc::new(hook));
        self
    }

    /// Called with each panic of a fiber of this runtime that nobody will see: its handle was
    /// dropped or detached, it was dropped with its group, or the scope raises another one. A panic
    /// that is joined, or that its scope raises, is not told. (The panic hook of `std` is called
    /// for each panic as it happens.)
    ///
    /// It is called once, by whoever drops the panic: the fiber itself, at its end, if it was
    /// detached by then; else the fiber or thread that drops the last handle, which may belong to
    /// no runtime, and may outlive this one. It may wait: whoever drops the panic waits then, and is
    /// interrupted in it as in any of its own waits. A panic in it goes no further.
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
    pub fn on_panic(
        mut self,
        hook: impl Fn(&PanicInfo<'_>) + Send + Sync + 'static,
    ) -> Builder {
        self.on_panic = Some(Arc::new(hook));
        self
    }

    /// Makes the runtime and starts its first worker.
    ///
    /// # Errors
    /// * Kind `InvalidInput`: a value set here, or a `PIRN_*` variable, even one that is
    ///   overridden here, cannot be used; the message names it.
    /// * Kind `Unsupported`: the CPU's shadow stack is active in this process.
    /// * Kind `Unsupported`: the system has no Unix sockets to [`inspect`](Self::inspect) by.
    /// * Kind `OutOfMemory`: the system has no memory for one stack.
    /// * What the system says when it has no memory or no thread to give, or of the file of a
    ///   [`trace`](Self::trace) or the socket to [`inspect`](Self::inspect) by, which the
    ///   message names.
    pub fn build(self) -> io::Result<Runtime> {
        self.pool().map(Runtime::of)
    }

    /// Each worker starts a fiber only when it has none, and its thread ends when it has had
    /// none for as long as `keep`.
    pub(crate) fn one_fiber_each(mut self, keep: Duration) -> Builder {
        self.scheduler = Scheduler::SingleQueue;
        self.one_fiber_each = Some(keep);
        self
    }

    /// As [`build`](Self::build), for one who ends it by other means.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub(crate) fn pool(self) -> io::Result<Arc<Pool>> {
        let environment = Environment::read()?;
        environment::check_name(&self.name)?;
        environment::check_max_stacks(self.max_stacks)?;
        context::check_shadow_stack()?;
        overflow::install();
        let workers = match self.workers.or(environment.workers) {
            _ if self.seed.is_some() => environment::check_deterministic(self.workers)?,
            Some(0) if self.workers == Some(0) => 1,
            Some(workers) => environment::check_workers("workers", workers)?,
            None => std::thread::available_parallelism()?
                .get()
                .min(environment::MOST_WORKERS),
        };
        let size = match self.stack_size {
            Some(size) => environment::check_stack_size("stack_size", size)?,
            None => environment.stack_size.unwrap_or(STACK_SIZE),
        };
        let by_hand = self.workers == Some(0);
        let fixed = by_hand || self.seed.is_some() || self.one_fiber_each.is_some();
        let max_threads = match self.max_threads {
            _ if fixed => workers,
            Some(threads) => threads.min(MOST_THREADS).max(workers),
            None if workers == 1 => 1,
            None => MOST_THREADS.max(workers),
        };
        let (watch, ending) = self.watching.decide(&environment)?;
        if ending.verbose {
            let decided = format!(
                "{workers} workers, at most {max_threads} threads, stacks of {} KiB, {:?}{}",
                size >> 10,
                self.scheduler,
                self.seed
                    .map_or(String::new(), |seed| format!(", seed {seed}")),
            );
            watching::say_start(&self.name, &decided, &watch);
        }
        let inspector = ending.inspector.clone();
        let at_end = ending.into_hook();
        let speaks = at_end.is_some();
        let pool = Pool::start(Config {
            name: self.name,
            workers,
            scheduler: self.scheduler,
            seed: self.seed,
            outside: self.testing.outside_limit,
            trial: self.seed.and_then(|seed| self.testing.trial(seed)),
            deadlock: self.deadlock.or(environment.deadlock).unwrap_or_default(),
            exclusive: self.one_fiber_each.is_some(),
            keep: self.one_fiber_each,
            max_threads,
            free: self.free && !fixed,
            spread: self.spread,
            io_uring: self.io_uring.or(environment.io_uring) != Some(false),
            processors: match self.pinned {
                true => sys::allowed_processors(),
                false => Vec::new(),
            },
            prewarm: self.prewarm,
            by_hand,
            stacks: StackConfig {
                size,
                max_stacks: self.max_stacks,
                cache: self.stack_cache,
            },
            on_thread_start: self.on_thread_start,
            on_thread_stop: self.on_thread_stop,
            on_panic: self.on_panic,
            attached: self.attached,
            watch,
            at_end,
        })?;
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

    /// Makes the runtime and has it be the default one of the process.
    ///
    /// # Errors
    /// If there is a default runtime already, or as [`build`](Self::build).
    pub fn install(self) -> Result<(), InstallError> {
        global::install(self)
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
            .field("workers", &self.workers)
            .field("stack_size", &self.stack_size)
            .field("scheduler", &self.scheduler)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstallError::Exists => f.write_str("there is a default runtime already"),
            InstallError::Io(error) => {
                write!(f, "the default runtime could not be made: {error}")
            }
        }
    }
}

impl Error for InstallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            InstallError::Exists => None,
            InstallError::Io(error) => Some(error),
        }
    }
}

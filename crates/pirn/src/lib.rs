//! Stackful fibers for Rust: ordinary blocking code in hundreds of thousands of fibers on a few
//! threads.
//!
//! ```
//! use pirn::channel;
//!
//! let total = pirn::run(|| {
//!     let (tx, rx) = channel::bounded(8);
//!     for part in 0..4u64 {
//!         let tx = tx.clone();
//!         pirn::spawn(move || {
//!             for n in 0..100 {
//!                 tx.send(part * 100 + n).unwrap();
//!             }
//!         });
//!     }
//!     drop(tx);
//!     rx.iter().sum::<u64>()
//! });
//! assert_eq!(total, (0..400).sum());
//! ```
//!
//! # The five ideas
//!
//! * A **fiber** ([`spawn()`]) runs an ordinary closure on its own stack. It yields only in calls
//!   of this library.
//! * To **park** is to wait without a thread ([`park()`], [`wait`]). Every function here that waits
//!   parks the calling fiber. On a plain thread the same function blocks the thread.
//! * A **scope** ([`scope()`]) ends when all its fibers have ended, so they may borrow from the
//!   code around it.
//! * A **channel** ([`channel`]) passes values between fibers and threads in any mix; [`select!`]
//!   waits for several at once.
//! * A **runtime** ([`Runtime`]) is a set of workers, which are threads that run fibers. The
//!   default one is created when first needed; there can be several.
//!
//! # Soundness
//!
//! Any worker may take a fiber that has not started. A started fiber stays on its worker to its
//! end, unless its runtime was built with [`free_migration`](runtime::Builder::free_migration),
//! which is `unsafe`. So between any two statements of a fiber the OS thread is the same.
//! Thread-locals, `Rc`, lock guards and `errno` have their usual meaning, in release builds with
//! link-time optimization too, and [`spawn()`] is a safe function.
//!
//! The price: a started fiber waits while another one on the same worker computes or blocks the
//! thread. Use [`compute`] for long computations, and [`blocking()`] for calls that block. Fibers
//! that have not started move to other workers, and to additional threads if need be
//! ([`max_threads`](runtime::Builder::max_threads)). The history of the spawning line decides where
//! a fiber starts ([`Spread`](runtime::Spread)).
//!
//! One class of safe code can go wrong, and no library can prevent it: code that is sound under
//! re-entrance but not under interleaving on one thread. Two cases are known. The first is an
//! initializer of a `thread_local!` that waits: a second fiber of the thread initializes the same
//! key, and `std` drops its value while it is in use. The second is a thread-local that is set to a
//! borrow around a callback (as the crate `scoped-tls` does), when the callback waits: two fibers
//! can leave in the wrong order. Do not wait inside such code.
//!
//! # Rules that hold everywhere
//!
//! 1. Every function works on plain threads and on the fibers of any runtime. But inside the poll
//!    of a future on a fiber, a call that would have to wait panics ([`future`] has the
//!    alternatives).
//! 2. A function that may wait is an *interruption point* if its error type can carry an
//!    [`Interrupt`], also within an `io::Error`. Functions that return `()`, a guard or a plain
//!    value never are. Functions that never wait are not either, such as `send` of a `watch` or a
//!    `broadcast` channel. Four interruption points report an interrupt in another way: the
//!    iterators of a receiver end, and report it on request; `extend` of a
//!    [`Sender`](channel::Sender) stops;
//!    [`TryJoinHandle::join`](scope::TryJoinHandle::join) returns `None`;
//!    [`TaskGroup::spawn`](scope::TaskGroup::spawn) with a limit returns
//!    [`Rejected::Cancelled`](spawn::Rejected).
//! 3. An interrupt stays. A cancellation of the fiber itself stays until the fiber ends. A
//!    cancellation of a [token](cancel::Token), and a deadline, stay until control leaves the code
//!    under it. An interrupted call has done nothing. A send or a spawn returns the value or the
//!    closure. A `join`, `recv` of a `oneshot` channel and `future::wait` drop the handle, the
//!    receiver or the future; an interrupted `join` leaves the other fiber running. An operation of
//!    several steps, such as `write_all` or `Command::output`, may have done some of them.
//! 4. A limit of the call itself is reported as such (`Timeout`, `Elapsed`, `None`, `Ok(None)`,
//!    `Ok(false)`), a deadline of the code around it ([`timeout`], [`cancel::with_deadline`]) as an
//!    interrupt. The nearest deadline applies; a cancellation has precedence. Children of a scope
//!    are under the deadline of the scope; other fibers start without one.
//! 5. A fiber yields after 128 operations that may wait and did not have to, or after 17 if it
//!    computes for 0.2 ms or more between two. Functions of channels, locks and selects with the
//!    prefix `try_` never yield, nor do `Once`, `OnceLock` and `LazyLock` that are initialized, nor
//!    [`par`] on a runtime without workers.
//! 6. Functions that take borrowing closures (`scope`, `run`, `blocking`) return only when the
//!    closure has ended.
//! 7. A panic ends its fiber and is returned by its join. The panic of a child that is never joined
//!    cancels the scope, and the scope raises it again.
//! 8. A fiber that waits while it unwinds, or in a panic hook, blocks its thread, until others have
//!    waited behind it for 10 ms. Then they run, and [`panicking`](std::thread::panicking) is true
//!    for them. A panic hook must not wait for longer: if another fiber of the thread panics
//!    meanwhile, `std` treats it as a panic inside the hook, and ends the process. If one raises a
//!    payload again (`resume_unwind`, a join's or a scope's panic), `panicking` is wrong on that
//!    thread from then on.
//! 9. A failed allocation ends the process, as in `std`.
//! 10. A child of `fork` has none of the threads of its parent's runtimes, nor those for files and
//!     timers of plain threads: calls there may wait indefinitely, also in a runtime that it
//!     creates, unless the parent has not used this crate before. Programs that become daemons fork
//!     first; others use [`process::Command`](process).
//!
//! # If you know another library
//!
//! | | pirn | std | Go | tokio |
//! |---|---|---|---|---|
//! | the program | `#[pirn::main]`, or nothing | `fn main` | `func main` | `#[tokio::main]` |
//! | start | [`spawn(\|\| …)`](spawn()) | `thread::spawn` | `go f()` | `tokio::spawn(async {…})` |
//! | wait for the end | [`JoinHandle::join`] | `join()` | `WaitGroup` | `.await` |
//! | borrow | [`scope()`] | `thread::scope` | | |
//! | cancel | [`JoinHandle::cancel`], [`cancel::Token`] | | `ctx.Done()` | `abort()`, `CancellationToken` |
//! | fail together | [`try_scope()`], [`scope::all`] | | `errgroup` | `try_join!` |
//! | a graph of tasks | [`par::graph`] | | | |
//! | a set of tasks | [`scope::TaskGroup`] | | | `JoinSet` |
//! | channel | [`channel::bounded`] | `mpsc` | `make(chan T, n)` | `mpsc::channel` |
//! | channel to all | [`channel::broadcast`], [`channel::watch`] | | | `broadcast`, `watch` |
//! | no receiver left | [`Sender::closed`](channel::Sender::closed) | | | `closed().await` |
//! | select | [`select!`] | | `select` | `select!` |
//! | lock | [`sync::Mutex`] | `Mutex` | `sync.Mutex` | `sync::Mutex` |
//! | many readers | [`sync::RwLock`] | `RwLock` | `sync.RWMutex` | `RwLock` |
//! | a condition, an event | [`sync::Condvar`], [`sync::Event`] | `Condvar` | `sync.Cond` | `Notify` |
//! | at most n | [`sync::Semaphore`] | | `semaphore.Weighted` | `Semaphore` |
//! | once | [`sync::OnceLock`] | `OnceLock` | `sync.Once` | `OnceCell` |
//! | sleep | [`sleep`] | `thread::sleep` | `time.Sleep` | `sleep().await` |
//! | ticks | [`time::interval`](time::interval()), [`channel::tick`] | | `time.Ticker` | `interval` |
//! | time limit | [`timeout`], [`cancel::with_deadline`] | | `context.WithTimeout` | `timeout(…).await` |
//! | test with time | `#[pirn::test]`, [`runtime::test`] | | `synctest` | `start_paused` |
//! | compute in parallel | [`par`] | | | |
//! | a long computation | [`compute`] | | | `spawn_blocking` |
//! | blocking work | [`blocking()`], [`Dispatcher::io`](dispatcher::Dispatcher::io) | | | `spawn_blocking` |
//! | sockets | `net` | `net` | `net` | `net` |
//! | a future | [`future::wait`] | | | `.await` |
//! | files | [`fs`] | `fs` | `os` | `fs` |
//! | signals | [`signal`] | | `os/signal` | `signal` |
//! | processes | [`process`] | `process` | `os/exec` | `process` |
//! | block in place | [`block_in_place`](blocking::block_in_place) | | | `block_in_place` |
//! | find a hang | [`diag::dump()`], [`diag::dump_on_quit`] | | SIGQUIT dump | `tokio-console` |
//! | counters | [`Handle::metrics`](runtime::Handle::metrics) | | `runtime/metrics` | `RuntimeMetrics` |
//! | threads | `PIRN_WORKERS`, [`runtime::Builder`] | the OS | GOMAXPROCS | worker threads |
//!
//! The [`guide`] has a chapter for users of each: [`std`](guide::from_std), [Go](guide::from_go),
//! [tokio](guide::from_tokio), [crossbeam](guide::from_crossbeam), [rayon](guide::from_rayon). Its
//! other chapters begin with [running](guide::running): where fibers run, and what delays them.
//!
//! # Environment
//!
//! These variables are read when a runtime, or a dispatcher with threads of its own, is built. A
//! method of [`runtime::Builder`] takes precedence. An invalid value is always an error that names
//! the variable.
//!
//! | variable | value | method |
//! |---|---|---|
//! | `PIRN_WORKERS` | number of workers | `workers` |
//! | `PIRN_STACK_SIZE` | bytes, or with K, M, G | `stack_size` |
//! | `PIRN_DEADLOCK` | `report`, `abort` or `off` | `deadlock` |
//! | `PIRN_SEED` | the seed of [`runtime::test`] | `deterministic` |
//! | `PIRN_STATS` | 1: the counters and the use of stacks on standard error at the end | `stats_at_exit` |
//! | `PIRN_VERBOSE` | 1: the settings at the start and a summary at the end | `verbose` |
//! | `PIRN_TRACE` | path of the trace file | `trace` |
//! | `PIRN_INSPECT` | path of a Unix socket for `pirn-top` | `inspect` |
//! | `PIRN_LOG` | some of `join,wake,inject,chan,park,sysmon`, or `all`: events as they happen | `log` |
//! | `PIRN_SLOW_FIBER` | milliseconds after which a fiber that delays others is reported, or `off` | `slow_fiber` |
//! | `PIRN_STALL_SIGNAL` | 0: no signal is sent to the thread of such a fiber to sample its frames | `stall_signal` |
//! | `PIRN_IO_URING` | 0: turns the feature `io_uring` off | `io_uring` |
//! | `PIRN_ASSERT` | 1: fiber states are checked at each switch | `assertions` |
//!
//! # Features
//!
//! `macros` is on by default.
//!
//! | feature | adds |
//! |---|---|
//! | `macros` | the attributes `#[pirn::main]` and `#[pirn::test]` |
//! | `futures` | a channel as a `Stream` (`Receiver::into_stream`); `TcpStream` and `UnixStream` as `AsyncRead` and `AsyncWrite` of `futures-io` |
//! | `hyper` | an executor, timers and streams for hyper (`future::hyper`); includes `futures` |
//! | `tokio` | futures that need tokio's runtime (`future::tokio`, `Builder::tokio`) |
//! | `tracing` | spans that follow fibers (`diag::in_span`) |
//! | `prometheus` | the counters as text (`Metrics::prometheus`) |
//! | `io_uring` | on Linux, reads of a file at an offset wait for the disk without a thread ([`fs`]) |
//! | `sim` | the effects of [`sim`] in simulated runs; the crate `pirn-sim` turns it on |
//! | `diagnostics` | checks of stacks and states at each switch |
//! | `corosensei` | the switch of that crate, on x86-64 too |
//!
//! # Not included
//!
//! * Preemption: a fiber that computes is never interrupted.
//! * Stacks that grow or move.
//! * Async functions: any function may wait. [`future`] runs those of other crates.
//! * Hardware shadow stacks: building a runtime fails if they are enabled for the process.

#![cfg_attr(docsrs, feature(doc_cfg))]

// The code of the package's first page is compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(not(unix))]
compile_error!("pirn needs Unix: other systems are not supported");
#[cfg(not(target_pointer_width = "64"))]
compile_error!("pirn needs pointers of 64 bits: other processors are not supported");

mod shim;

mod base;
mod context;
mod events;
mod fiber;
mod join;
mod observe;
#[cfg_attr(
    pirn_parts,
    allow(
        dead_code,
        unused_imports,
        reason = "sockets use it, which models have not"
    )
)]
mod readiness;
mod report;
mod sched;
mod sys;
mod timer;

pub mod blocking;
pub mod cancel;
pub mod channel;
#[doc(hidden)]
pub mod dev;
pub mod diag;
pub mod dispatcher;
pub mod fs;
pub mod future;
pub mod guide;
// Standard streams exist only with the system, like sockets.
#[cfg(all(unix, not(pirn_modelled)))]
pub mod io;
// Sockets exist only with the system: a model cannot interleave them.
#[cfg(all(unix, not(pirn_modelled)))]
pub mod net;
// Joins use words of `std`, which a model of one protocol does not see: there only the rest
// remains.
#[cfg_attr(pirn_parts, path = "par/modelled.rs")]
pub mod par;
// Processes exist only with the system, too.
#[cfg(all(unix, not(pirn_modelled)))]
pub mod process;
pub mod runtime;
pub mod scope;
pub mod select;
pub mod signal;
pub mod sim;
pub mod spawn;
// Where modelled words have no const constructors, only the parts without a word of their own
// remain.
#[cfg_attr(pirn_parts, path = "sync/modelled.rs")]
pub mod sync;
pub mod time;
pub mod wait;

pub use blocking::{blocking, compute};
pub use fiber::FiberLocal;
#[doc(hidden)]
pub use fiber::local::{Borrows as __Borrows, IsBorrowed as __IsBorrowed};
#[cfg(not(pirn_parts))]
pub use par::join;
pub use runtime::{Runtime, run};
pub use scope::{scope, try_scope};
pub use spawn::{JoinHandle, current, park, spawn, yield_now};
pub use time::{sleep, timeout};
pub use wait::Interrupt;

/// Runs `main` on a fiber.
///
/// Without options the body runs by [`run`] on the default runtime, which ends only if the program
/// calls [`shutdown_default`](runtime::shutdown_default).
///
/// With options the attribute builds a runtime and runs the body as its first fiber. When the body
/// has returned, the [`Runtime`] is dropped: it waits until every fiber has ended. If the body
/// panics, it cancels them first. An `Err` cancels nothing: end the other fibers before you return
/// one. Without options, fibers that still run stop at any point when `main` returns. This runtime
/// is not the default one. The fibers of the body use it, but a plain thread does only if it
/// [enters](runtime::Handle::enter) the runtime.
///
/// | option | method of [`Builder`](runtime::Builder) |
/// |---|---|
/// | `workers = 4` | [`workers`](runtime::Builder::workers) |
/// | `max_threads = 8` | [`max_threads`](runtime::Builder::max_threads) |
/// | `stack_size = 65536` | [`stack_size`](runtime::Builder::stack_size), in bytes |
/// | `name = "web"` | [`name`](runtime::Builder::name) |
///
/// The values are literals; for computed ones use [`runtime::Builder`].
///
/// `main` may return any type that implements [`Termination`](std::process::Termination), such as
/// [`Result`]. The result becomes the exit code, as in `std`, before the runtime is dropped. It
/// need not be `Send`.
///
/// # Errors
/// If the runtime cannot be built with the options, the program prints the error to the standard
/// error stream and ends with exit code 1.
///
/// # Panics
/// With the panic of the body. Without options also if the default runtime cannot be created.
///
/// # Examples
/// ```
/// #[pirn::main]
/// fn main() {
///     let child = pirn::spawn(|| 6 * 7);
///     assert_eq!(child.join().unwrap(), 42);
/// }
/// ```
///
/// ```
/// #[pirn::main(workers = 2, stack_size = 131072, name = "web")]
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     assert_eq!(pirn::runtime::Handle::current().workers(), 2);
///     let seven: u32 = "7".parse()?;
///     assert_eq!(pirn::spawn(move || seven).join()?, 7);
///     Ok(())
/// }
/// ```
#[cfg(feature = "macros")]
pub use pirn_macros::main;

/// Makes a function a `#[test]` that runs on a fiber of a runtime of its own.
///
/// The body runs as under [`runtime::test`]: the order of the fibers depends on a seed only, time
/// is virtual, and a deadlock fails the test. If the test fails, the seed is printed to the
/// standard error stream. `PIRN_SEED` sets it for the next run.
///
/// The function takes no argument, or the runtime's handle as `&pirn::runtime::Handle`. It returns
/// `()` or any type that implements [`Termination`](std::process::Termination), such as
/// `Result<(), E>` with an `E` that implements `Debug`. An `Err` is printed and fails the test; the
/// other fibers are cancelled then, as after a panic. Other attributes, such as `#[ignore]` and
/// `#[should_panic]`, have their usual meaning.
///
/// | option | meaning |
/// |---|---|
/// | `seed = 7` | this seed in every run, as by [`Builder::deterministic`](runtime::Builder::deterministic); takes precedence over `PIRN_SEED` |
/// | `workers = 2` | real workers and real time, see below; not together with `seed` |
/// | `stack_size = 65536` | the size of the fibers' stacks in bytes, as by [`Builder::stack_size`](runtime::Builder::stack_size) |
///
/// With `workers` the body is the first fiber of an ordinary runtime with this number of workers.
/// Its fibers run in parallel, time is real, and there is no seed. A deadlock is reported and does
/// not end the test, unless the environment variable `PIRN_DEADLOCK` is `abort`. After the body the
/// test waits until every fiber of the runtime has ended; it cancels them first if the body failed.
///
/// # Panics
/// The test panics as [`runtime::test`] does, if its function returns a failure, or if the runtime
/// cannot be created.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::runtime::Handle;
/// use pirn::time::{now, sleep};
///
/// #[pirn::test]
/// fn an_hour_takes_no_real_time() {
///     let start = now();
///     sleep(Duration::from_secs(3_600)).unwrap();
///     assert_eq!(now() - start, Duration::from_secs(3_600));
/// }
///
/// #[pirn::test(seed = 7)]
/// fn a_result_is_checked(runtime: &Handle) -> Result<(), pirn::spawn::JoinError> {
///     let child = runtime.spawn(|| 6 * 7);
///     assert_eq!(child.join()?, 42);
///     Ok(())
/// }
///
/// #[pirn::test(workers = 2)]
/// fn fibers_run_in_parallel() {
///     pirn::spawn(|| ()).join().unwrap();
/// }
/// # fn main() {}
/// ```
#[cfg(feature = "macros")]
pub use pirn_macros::test;

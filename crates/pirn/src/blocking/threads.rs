//! [`blocking`]: runs a closure on a thread that may block, while the caller parks.
//!
//! Owns: two process-wide pools of plain threads, created on demand and ended when idle. A job lies
//! on the stack of its waiting caller.
//!
//! A closure that users give to [`blocking`] may wait for a fiber, and that fiber may call for a
//! file. So files have their own threads ([`FILES`]), which wait for the system only.
//!
//! Invariants:
//! * G1. A job is queued once, run once, and lives until `done` is stored, which is the last access
//!   to it: its caller may go on from then on. The ticket that wakes the caller is copied before.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::LazyLock;
use std::time::Duration;

use crate::base::choice::Operation;
use crate::fiber::Ticket;
use crate::fiber::panic_payload::Panic;
use crate::fiber::thread_registry;
use crate::sched::deterministic::draw::outside;
use crate::shim::atomic::{AtomicBool, Ordering};
use crate::shim::{self, Condvar, Mutex};
use crate::sys;
use crate::wait::park::{park, ticket};
use crate::wait::point;
use crate::wait::polling::refuse_in_poll;
use crate::wait::{Reason, Spec, yield_now};

/// The largest number of threads; further jobs queue. The same as Kotlin's I/O dispatcher.
const LIMIT: usize = 64;

/// The time after which an idle thread ends. The same as Tokio's.
const KEEP: Duration = Duration::from_secs(10);

/// A closure on its caller's stack that waits to run.
struct Job<F, T> {
    closure: UnsafeCell<Option<F>>,
    result: UnsafeCell<Option<Result<T, Panic>>>,
    caller: Ticket,
    done: AtomicBool,
}

/// A type-erased job.
struct Order {
    job: NonNull<()>,
    /// The caller passes `job`, by the right of G1.
    run: unsafe fn(NonNull<()>),
}

// SAFETY: G1: the order is the only right to run the job, and `F: Send` is required.
unsafe impl Send for Order {}

#[derive(Default)]
struct Queue {
    orders: VecDeque<Order>,
    threads: usize,
    idle: usize,
    made: u64,
}

/// A pool of threads.
pub(super) struct Threads {
    /// The name of its threads, and the wait reason of callers.
    name: &'static str,
    reason: Reason,
    queue: Mutex<Queue>,
    work: Condvar,
}

/// The pool for closures that users give to [`blocking`], and for waits for locks of files.
pub(super) static THREADS: LazyLock<Threads> =
    LazyLock::new(|| Threads::new("blocking", Reason::Blocking));

/// The pool for calls on files.
pub(super) static FILES: LazyLock<Threads> =
    LazyLock::new(|| Threads::new("files", Reason::File));

/// Runs `f` on a thread that may block, and returns its result.
///
/// For calls that block in the system, or compute for long, in code that is not written for fibers.
/// `f` may borrow. It always runs on another thread, also if the caller is a plain thread. It sees
/// that thread's thread-locals and fiber-locals. Fibers that it spawns go to the default runtime,
/// or to one that it [enters](crate::runtime::Handle::enter). It is not under the caller's token and
/// deadline: a wait of this library inside `f` is not interrupted by them. The threads are created on demand and
/// end after 10 s without work.
///
/// # Panics
/// With the panic of `f`.
///
/// # Cancellation
/// Not an interruption point: returns only when `f` has ended. Parks a fiber, blocks a plain
/// thread.
///
/// # Blocking
/// At most 64 calls run at once in the whole process; more wait their turn. So 64 calls wait
/// indefinitely if each waits for a further call, by calling `blocking` inside `f` or by waiting
/// for a fiber that does. If the system cannot create a thread and there is none, `f` runs in place
/// and blocks the worker.
///
/// # Examples
/// ```
/// let path = String::from("/dev/null");
/// let read = pirn::run(|| pirn::blocking(|| std::fs::read(&path)));
/// assert!(read.unwrap().is_empty());
/// ```
#[doc(alias = "spawn_blocking")]
#[track_caller]
pub fn blocking<F, T>(f: F) -> T
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    point(Operation::Io, 0);
    run_on(&THREADS, f)
}

/// Runs `f` on one of `threads`, and returns its result.
#[track_caller]
pub(super) fn run_on<F, T>(threads: &'static Threads, f: F) -> T
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    // G1: no job is handed out that could not be waited for.
    refuse_in_poll();
    let job = Job {
        closure: UnsafeCell::new(Some(f)),
        result: UnsafeCell::new(None),
        caller: ticket(),
        done: AtomicBool::new(false),
    };
    let order = Order {
        job: NonNull::from(&job).cast(),
        run: run::<F, T>,
    };
    match threads.submit(order) {
        Ok(()) => {
            let spec = Spec::of(threads.reason).at(Location::caller());
            let _ = outside(|| park(job.caller, &spec));
        }
        // SAFETY: G1: refused, so this is the only right to run it.
        Err(order) => unsafe { (order.run)(order.job) },
    }
    // The borrows of `f` depend on this, so the loop checks the flag and does not trust the wake.
    while !job.done.load(Ordering::Acquire) {
        yield_now();
    }
    let result = job
        .result
        .into_inner()
        .expect("woken after the job was done");
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Runs a job and stores its result.
///
/// # Safety
/// `job` points to a job of these types that no other code accesses until it is done.
unsafe fn run<F: FnOnce() -> T, T>(job: NonNull<()>) {
    // SAFETY: G1: alive until it is done, below.
    let job = unsafe { job.cast::<Job<F, T>>().as_ref() };
    // SAFETY: G1: one party runs it, and the caller reads it only when it is done.
    let f = unsafe { (*job.closure.get()).take() }.expect("a job is run once");
    let result = catch_unwind(AssertUnwindSafe(f));
    // SAFETY: as above.
    unsafe { *job.result.get() = Some(result) };
    // The ticket is copied out: the job is gone as soon as its caller runs.
    let caller = job.caller;
    // ORDERING: Release: pairs with the Acquire load in `run_on`.
    job.done.store(true, Ordering::Release);
    caller.wake();
}

impl Threads {
    fn new(name: &'static str, reason: Reason) -> Threads {
        Threads {
            name,
            reason,
            queue: Mutex::new(Queue::default()),
            work: Condvar::new(),
        }
    }

    /// Queues a job; returns it if there is no thread to run it.
    fn submit(&'static self, order: Order) -> Result<(), Order> {
        let mut queue = self.queue.lock();
        if queue.idle < queue.orders.len() + 1 && queue.threads < LIMIT {
            queue.made += 1;
            let name = format!("pirn-{}-{}", self.name, queue.made);
            queue.threads += 1;
            if shim::thread::spawn(name, sys::unpinned(|| self.work())).is_err() {
                queue.threads -= 1;
                if queue.threads == 0 {
                    return Err(order);
                }
            }
        }
        queue.orders.push_back(order);
        drop(queue);
        self.work.notify_one();
        Ok(())
    }

    fn work(&self) {
        let mut queue = self.queue.lock();
        loop {
            if let Some(order) = queue.orders.pop_front() {
                drop(queue);
                // SAFETY: G1: taken out of the queue, so this is the only right to run it.
                unsafe { (order.run)(order.job) };
                queue = self.queue.lock();
                continue;
            }
            let until = shim::now() + KEEP;
            queue.idle += 1;
            queue = thread_registry::rest(|| self.work.wait_until(queue, until));
            queue.idle -= 1;
            if queue.orders.is_empty() && shim::now() >= until {
                queue.threads -= 1;
                return;
            }
        }
    }
}

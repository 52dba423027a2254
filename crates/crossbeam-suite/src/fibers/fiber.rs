//! Fibers in the shape of threads, and the runtime of a test.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pirn::Runtime;
use pirn::spawn::JoinError;

/// Runs the body of a test on a fiber of a runtime of its own, with several workers.
///
/// If every spawned fiber has ended, the runtime ends too, with its threads and their
/// thread-locals. Some tests leave fibers that wait indefinitely, as they leave threads; then the
/// runtime lives until the process ends.
///
/// # Panics
/// With the panic of the body.
pub fn on_fiber(body: fn()) {
    // ORDERING: Relaxed: spawning a fiber orders it.
    POLLS_YIELD.store(true, Ordering::Relaxed);
    let runtime = Runtime::builder()
        .name("suite")
        .workers(WORKERS)
        .stack_size(STACK)
        .build()
        .expect("a runtime for the test");
    let runtime = Box::leak(Box::new(Some(runtime)));
    runtime.as_ref().expect("not ended yet").run(body);
    // ORDERING: Relaxed: a hint; the end of the runtime waits for the remaining fibers.
    if DETACHED.load(Ordering::Relaxed) == 0 {
        *runtime = None;
    }
}

/// Starts a fiber.
pub fn spawn<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let counted = Counted::new();
    JoinHandle(pirn::spawn(move || {
        let _counted = counted;
        body()
    }))
}

/// Parks the calling fiber for `duration`.
pub fn sleep(duration: Duration) {
    pirn::sleep(duration).expect("no token is cancelled");
}

/// Yields after a failed attempt that does not wait. Some tests retry until another thread has
/// acted, and rely on the system to run that thread. A fiber in such a loop must yield itself.
pub(crate) fn polled() {
    // ORDERING: Relaxed: set before the test begins.
    if POLLS_YIELD.load(Ordering::Relaxed) {
        pirn::yield_now();
    }
}

/// Yields to other fibers.
pub fn yield_now() {
    pirn::yield_now();
}

/// The handle to join a fiber.
#[derive(Debug)]
pub struct JoinHandle<T>(pirn::JoinHandle<T>);

impl<T> JoinHandle<T> {
    /// Waits for the fiber to end and returns its result.
    ///
    /// # Errors
    /// The payload, if the fiber panicked.
    pub fn join(self) -> thread::Result<T> {
        self.0.join().map_err(payload)
    }
}

/// The result that `join` of a thread would return.
pub(super) fn payload(error: JoinError) -> Box<dyn std::any::Any + Send> {
    match error.try_into_panic() {
        Ok(panic) => panic,
        Err(error) => Box::new(error.to_string()),
    }
}

/// A fiber that only its handle waits for, while it lives.
struct Counted;

impl Counted {
    fn new() -> Self {
        // ORDERING: Relaxed: see `on_fiber`.
        DETACHED.fetch_add(1, Ordering::Relaxed);
        Counted
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // ORDERING: Relaxed: see `on_fiber`.
        DETACHED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The number of such fibers, of all tests of the process.
static DETACHED: AtomicUsize = AtomicUsize::new(0);

/// The tests of this process run on fibers.
static POLLS_YIELD: AtomicBool = AtomicBool::new(false);

/// More than the machine has cores, so that workers are also preempted. Arbitrary.
const WORKERS: usize = 4;

/// The size of a thread's: one test passes 32 KiB by value through frames that are not optimised.
const STACK: usize = 2 << 20;

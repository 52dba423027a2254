//! The pools behind dispatchers: those that a dispatcher owns, and the one for I/O.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use crate::fiber::current;
use crate::runtime::{Builder, MOST_WORKERS, Scheduler};
use crate::sched::pool::shared::Pool;
use crate::shim::StaticLock;
use crate::wait::polling::forbids_waiting;

/// A pool that ends with its last dispatcher.
pub(super) struct Owned(pub(super) Arc<Pool>);

/// The number of threads of the I/O dispatcher, unless there are more cores. The same as Kotlin's.
const IO_WORKERS: usize = 64;

/// The time after which an idle thread of the I/O dispatcher ends. The same as Tokio's.
const KEEP: Duration = Duration::from_secs(10);

/// The number of dispatchers made so far, used in the names of their threads. Not modelled, since
/// only names depend on it.
static MADE: AtomicUsize = AtomicUsize::new(0);

static IO: StaticLock<Option<Arc<Pool>>> = StaticLock::new(None);

static MAIN: StaticLock<Option<Arc<Pool>>> = StaticLock::new(None);

impl Owned {
    /// Creates a pool with this many workers.
    ///
    /// # Errors
    /// Like [`Builder::build`].
    pub(super) fn new(workers: usize, scheduler: Scheduler) -> io::Result<Owned> {
        if workers == 0 {
            let why = "workers is 0; a dispatcher has at least 1";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let builder = Builder::new()
            .workers(workers)
            .max_threads(workers)
            .scheduler(scheduler);
        // ORDERING: Relaxed: the number is for reports only.
        let number = MADE.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(Owned(builder.name(format!("pirn-d{number}")).pool()?))
    }
}

impl Drop for Owned {
    /// Waits until every fiber has ended; a fiber of the pool itself does not wait, and neither does the
    /// poll of a future.
    fn drop(&mut self) {
        let polls = forbids_waiting(current::local());
        match self.0.is_current() || self.0.is_starting() || polls {
            true => self.0.drain_alone(),
            false => self.0.drain(),
        }
    }
}

/// Returns the pool of the main thread; creates it if need be.
///
/// # Panics
/// Like [`io()`].
pub(super) fn main() -> Arc<Pool> {
    let mut made = MAIN.lock();
    if let Some(pool) = &*made {
        return Arc::clone(pool);
    }
    match Builder::new().name("pirn-main").workers(0).pool() {
        Ok(pool) => Arc::clone(made.insert(pool)),
        Err(error) => {
            drop(made);
            panic!("the dispatcher of the main thread could not be made: {error}")
        }
    }
}

/// Returns the pool for I/O; creates it if need be.
///
/// # Panics
/// If it has to be created and cannot be.
pub(super) fn io() -> Arc<Pool> {
    let mut made = IO.lock();
    if let Some(pool) = &*made {
        return Arc::clone(pool);
    }
    let cores = available_parallelism().map_or(1, usize::from);
    let builder = Builder::new()
        .name("pirn-io")
        .workers(cores.clamp(IO_WORKERS, MOST_WORKERS))
        .one_fiber_each(KEEP);
    match builder.pool() {
        Ok(pool) => Arc::clone(made.insert(pool)),
        Err(error) => {
            drop(made);
            panic!("the dispatcher for I/O could not be made: {error}")
        }
    }
}

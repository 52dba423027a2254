//! The pipelines on pirn's fibers: the executor of the tool.
//!
//! A job is a fiber that runs to its end on one worker and never waits. A stage is a fiber that
//! parks on its channels. A fiber of a scope runs the "beside" work by [`pirn::blocking()`], so
//! that a write blocks a thread for blocking calls, not a worker. The caller's own thread reads;
//! pirn's channels work on it as on a fiber.

use std::fmt;
use std::io;
use std::sync::Arc;

use pirn::JoinHandle;
use pirn::channel::{OrderedSender, Receiver, Sender, bounded, ordered};
use pirn::diag::Metrics;
use pirn::runtime::Runtime;
use pirn::spawn::JoinError;

use super::executor::{Drain, Executor, Feed, Line, Lost};

/// An executor with its own runtime.
#[derive(Clone)]
pub struct Fibers {
    runtime: Arc<Runtime>,
    workers: usize,
}

impl Fibers {
    /// Returns an executor with `workers` workers.
    ///
    /// # Errors
    ///
    /// If the runtime cannot be built: no memory for stacks, a bad `PIRN_*` value.
    pub fn new(workers: usize) -> io::Result<Fibers> {
        let runtime = Runtime::builder().name("pgz").workers(workers).build()?;
        let runtime = Arc::new(runtime);
        Ok(Fibers { runtime, workers })
    }

    /// Returns the runtime's counters so far.
    pub fn metrics(&self) -> Metrics {
        self.runtime.metrics()
    }
}

impl fmt::Debug for Fibers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fibers")
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}

impl Executor for Fibers {
    type Pending<T: Send + 'static> = JoinHandle<T>;
    type Feed<T: Send + 'static> = Sender<T>;
    type Drain<T: Send + 'static> = Receiver<T>;
    type Line<T: Send + 'static> = Jobs<T>;
    type Results<T: Send + 'static> = Results<T>;

    fn workers(&self) -> usize {
        self.workers
    }

    fn job<T, F>(&self, job: F) -> JoinHandle<T>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        self.runtime.spawn(job)
    }

    fn stage<T, F>(&self, stage: F) -> JoinHandle<T>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        self.runtime.spawn(stage)
    }

    fn collect<T: Send + 'static>(&self, pending: JoinHandle<T>) -> Result<T, Lost> {
        pending.join().map_err(|_panicked| Lost)
    }

    fn channel<T: Send + 'static>(&self, room: usize) -> (Sender<T>, Receiver<T>) {
        bounded(room)
    }

    fn line<T: Send + 'static>(&self, room: usize) -> (Jobs<T>, Results<T>) {
        let (work, results) = ordered(room);
        let runtime = Arc::clone(&self.runtime);
        (Jobs { runtime, work }, Results(results))
    }

    fn beside<A, B, FA, FB>(&self, aside: FA, here: FB) -> (A, B)
    where
        A: Send,
        FA: FnOnce() -> A + Send,
        FB: FnOnce() -> B,
    {
        self.runtime.scope(|scope| {
            let aside = scope.spawn(|| pirn::blocking(aside));
            let b = here();
            match aside.join() {
                Ok(a) => (a, b),
                Err(error) => error.resume(),
            }
        })
    }
}

/// The sending end of an ordered channel, with its fibers on the executor's runtime.
pub struct Jobs<T> {
    runtime: Arc<Runtime>,
    work: OrderedSender<T>,
}

/// The receiving end of an ordered channel.
pub struct Results<T>(Receiver<Result<T, JoinError>>);

impl<T: Send + 'static> Line<T> for Jobs<T> {
    fn submit(&self, job: impl FnOnce() -> T + Send + 'static) -> bool {
        self.runtime.enter(|| self.work.spawn(job)).is_ok()
    }
}

impl<T: Send> Drain<Result<T, Lost>> for Results<T> {
    fn recv(&self) -> Option<Result<T, Lost>> {
        let result = self.0.recv().ok()?;
        Some(result.map_err(|_panicked| Lost))
    }
}

impl<T> fmt::Debug for Jobs<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jobs").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Results<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Results").finish_non_exhaustive()
    }
}

impl<T: Send> Feed<T> for Sender<T> {
    fn send(&self, item: T) -> bool {
        Sender::send(self, item).is_ok()
    }
}

impl<T: Send> Drain<T> for Receiver<T> {
    fn recv(&self) -> Option<T> {
        Receiver::recv(self).ok()
    }
}

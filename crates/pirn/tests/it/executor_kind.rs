//! Runs the same jobs as fibers, as plain threads, or as a mixture of both, all at once.

use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::Runtime;

/// Which kind of executor runs the jobs.
#[derive(Debug, Copy, Clone)]
pub(crate) enum ExecutorKind {
    Fibers,
    Threads,
    /// Every other job on a thread.
    Mixed,
}

pub(crate) const EXECUTOR_KINDS: [ExecutorKind; 3] = [
    ExecutorKind::Fibers,
    ExecutorKind::Threads,
    ExecutorKind::Mixed,
];

pub(crate) type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Creates jobs one after another, to be run together.
pub(crate) struct Jobs<'a>(Vec<Job<'a>>);

impl<'a> Jobs<'a> {
    pub(crate) fn new() -> Self {
        Jobs(Vec::new())
    }

    pub(crate) fn add(&mut self, job: impl FnOnce() + Send + 'a) {
        self.0.push(Box::new(job));
    }

    /// Runs all jobs on a runtime of their own; returns when all have ended.
    pub(crate) fn run(self, executor: ExecutorKind, workers: usize) {
        self.run_on(&runtime(workers), executor);
    }

    /// Like [`run`](Self::run), on this runtime.
    #[expect(
        clippy::disallowed_methods,
        reason = "the threads that fibers mix with"
    )]
    pub(crate) fn run_on(self, runtime: &Runtime, executor: ExecutorKind) {
        std::thread::scope(|threads| {
            let mut fibers = Vec::new();
            for (index, job) in self.0.into_iter().enumerate() {
                match executor {
                    ExecutorKind::Fibers => fibers.push(job),
                    ExecutorKind::Mixed if index % 2 == 0 => fibers.push(job),
                    ExecutorKind::Threads | ExecutorKind::Mixed => {
                        drop(threads.spawn(job));
                    }
                }
            }
            runtime.scope(|scope| {
                for job in fibers {
                    scope.spawn(job);
                }
            });
        });
    }
}

/// Returns a runtime with that many workers.
pub(crate) fn runtime(workers: usize) -> Runtime {
    Runtime::builder()
        .workers(workers)
        .build()
        .expect("a runtime starts")
}

/// Runs `body` as the first fiber of a runtime with one worker: fibers run one at a time, and each
/// until it waits, so a fiber that has started and is counted has reached its wait.
pub(crate) fn alone<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    runtime(1).run(body)
}

/// Yields until `count` has reached `target`.
pub(crate) fn until(count: &AtomicUsize, target: usize) {
    while count.load(Ordering::SeqCst) < target {
        pirn::yield_now();
    }
}

/// Returns the name of the calling thread up to its worker's number.
pub(crate) fn prefix() -> String {
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let end = name
        .rfind('-')
        .expect("a worker's name ends with its number");
    name[..end].to_owned()
}

/// Waits for an event that never occurs, until interrupted.
pub(crate) fn for_ever() -> pirn::Interrupt {
    pirn::spawn::park_interruptible().unwrap_err()
}

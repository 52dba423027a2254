//! The pipelines on plain threads: the baseline that the benches compare fibers with.
//!
//! This is careful hand-written code: a fixed pool of threads takes jobs from one locked queue;
//! each result has a slot; channels are a ring under a mutex with two condition variables. A stage
//! has a thread to itself.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

use super::executor::{Drain, Executor, Feed, Line, Lost};

/// A pool of threads.
#[derive(Clone, Debug)]
pub struct Threads {
    crew: Arc<Crew>,
}

impl Threads {
    /// Starts `workers` threads, at least one.
    pub fn new(workers: usize) -> Threads {
        let workers = workers.max(1);
        let jobs: Arc<Jobs> = Arc::default();
        for _ in 0..workers {
            let jobs = Arc::clone(&jobs);
            thread::spawn(move || {
                while let Some(job) = jobs.next() {
                    job();
                }
            });
        }
        Threads {
            crew: Arc::new(Crew { jobs, workers }),
        }
    }
}

impl Executor for Threads {
    type Pending<T: Send + 'static> = Arc<Slot<T>>;
    type Feed<T: Send + 'static> = Sender<T>;
    type Drain<T: Send + 'static> = Receiver<T>;
    type Line<T: Send + 'static> = Submitter<T>;
    type Results<T: Send + 'static> = Collector<T>;

    fn workers(&self) -> usize {
        self.crew.workers
    }

    fn job<T, F>(&self, job: F) -> Self::Pending<T>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let slot = Arc::new(Slot::default());
        let filled = Arc::clone(&slot);
        self.crew.jobs.push(Box::new(move || filled.fill(job)));
        slot
    }

    fn stage<T, F>(&self, stage: F) -> Self::Pending<T>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let slot = Arc::new(Slot::default());
        let filled = Arc::clone(&slot);
        thread::spawn(move || filled.fill(stage));
        slot
    }

    fn collect<T: Send + 'static>(&self, pending: Arc<Slot<T>>) -> Result<T, Lost> {
        pending.collect()
    }

    fn line<T: Send + 'static>(&self, room: usize) -> (Submitter<T>, Collector<T>) {
        let (feed, drain) = self.channel(room);
        let threads = self.clone();
        (Submitter { threads, feed }, Collector(drain))
    }

    fn channel<T: Send + 'static>(&self, room: usize) -> (Sender<T>, Receiver<T>) {
        let ring = Arc::new(Ring {
            state: Mutex::new(State {
                items: VecDeque::with_capacity(room),
                room: room.max(1),
                closed: false,
            }),
            arrived: Condvar::new(),
            left: Condvar::new(),
        });
        (Sender(Arc::clone(&ring)), Receiver(ring))
    }

    fn beside<A, B, FA, FB>(&self, aside: FA, here: FB) -> (A, B)
    where
        A: Send,
        FA: FnOnce() -> A + Send,
        FB: FnOnce() -> B,
    {
        thread::scope(|scope| {
            let aside = scope.spawn(aside);
            let b = here();
            let a = aside.join().unwrap_or_else(|panic| resume_unwind(panic));
            (a, b)
        })
    }
}

/// Ends the threads when it is dropped with the last handle.
#[derive(Debug)]
struct Crew {
    jobs: Arc<Jobs>,
    workers: usize,
}

impl Drop for Crew {
    fn drop(&mut self) {
        lock(&self.jobs.queue).closed = true;
        self.jobs.arrived.notify_all();
    }
}

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Jobs {
    queue: Mutex<Queue>,
    arrived: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    closed: bool,
}

impl fmt::Debug for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jobs").finish_non_exhaustive()
    }
}

impl Jobs {
    fn push(&self, job: Job) {
        lock(&self.queue).jobs.push_back(job);
        self.arrived.notify_one();
    }

    fn next(&self) -> Option<Job> {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                return Some(job);
            }
            if queue.closed {
                return None;
            }
            queue = wait(&self.arrived, queue);
        }
    }
}

/// The slot of one result.
pub struct Slot<T> {
    result: Mutex<Option<Result<T, Lost>>>,
    filled: Condvar,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Slot {
            result: Mutex::new(None),
            filled: Condvar::new(),
        }
    }
}

impl<T> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").finish_non_exhaustive()
    }
}

impl<T> Slot<T> {
    fn fill(&self, work: impl FnOnce() -> T) {
        let result = catch_unwind(AssertUnwindSafe(work)).map_err(|_| Lost);
        *lock(&self.result) = Some(result);
        self.filled.notify_one();
    }

    fn collect(&self) -> Result<T, Lost> {
        let mut result = lock(&self.result);
        loop {
            match result.take() {
                Some(result) => return result,
                None => result = wait(&self.filled, result),
            }
        }
    }
}

/// Starts jobs and queues their slots in the same order.
pub struct Submitter<T> {
    threads: Threads,
    feed: Sender<Arc<Slot<T>>>,
}

/// Awaits the slots in that order.
pub struct Collector<T>(Receiver<Arc<Slot<T>>>);

impl<T: Send + 'static> Line<T> for Submitter<T> {
    fn submit(&self, job: impl FnOnce() -> T + Send + 'static) -> bool {
        self.feed.send(self.threads.job(job))
    }
}

impl<T: Send> Drain<Result<T, Lost>> for Collector<T> {
    fn recv(&self) -> Option<Result<T, Lost>> {
        self.0.recv().map(|slot| slot.collect())
    }
}

impl<T> fmt::Debug for Submitter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Submitter").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Collector<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").finish_non_exhaustive()
    }
}

struct State<T> {
    items: VecDeque<T>,
    room: usize,
    closed: bool,
}

struct Ring<T> {
    state: Mutex<State<T>>,
    arrived: Condvar,
    left: Condvar,
}

/// The sending end of a ring.
pub struct Sender<T>(Arc<Ring<T>>);

/// The receiving end of a ring.
pub struct Receiver<T>(Arc<Ring<T>>);

impl<T: Send> Feed<T> for Sender<T> {
    fn send(&self, item: T) -> bool {
        let mut state = lock(&self.0.state);
        while state.items.len() == state.room && !state.closed {
            state = wait(&self.0.left, state);
        }
        if state.closed {
            return false;
        }
        state.items.push_back(item);
        drop(state);
        self.0.arrived.notify_one();
        true
    }
}

impl<T: Send> Drain<T> for Receiver<T> {
    fn recv(&self) -> Option<T> {
        let mut state = lock(&self.0.state);
        loop {
            if let Some(item) = state.items.pop_front() {
                drop(state);
                self.0.left.notify_one();
                return Some(item);
            }
            if state.closed {
                return None;
            }
            state = wait(&self.0.arrived, state);
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        lock(&self.0.state).closed = true;
        self.0.arrived.notify_one();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let items = {
            let mut state = lock(&self.0.state);
            state.closed = true;
            std::mem::take(&mut state.items)
        };
        self.0.left.notify_one();
        drop(items);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// No job or stage runs under these locks, so none is ever poisoned.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no user code runs under the lock")
}

fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condvar
        .wait(guard)
        .expect("no user code runs under the lock")
}

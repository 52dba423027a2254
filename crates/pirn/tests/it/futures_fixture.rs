//! Futures that are woken by hand, and executors that poll them.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Yields once it is opened, from anywhere.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    open: bool,
    waker: Option<Waker>,
}

impl Gate {
    pub(crate) fn open(&self) {
        let waker = {
            let mut state = self.0.lock().unwrap();
            state.open = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The waker of the last poll that was not the last.
    pub(crate) fn waker(&self) -> Option<Waker> {
        self.0.lock().unwrap().waker.clone()
    }
}

impl Future for Gate {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().unwrap();
        if state.open {
            return Poll::Ready(());
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

/// Yields `times` times, by waking itself during each poll.
pub(crate) async fn give_way(times: usize) {
    let mut left = times;
    poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Counts its wakes.
#[derive(Default)]
pub(crate) struct Wakes(AtomicUsize);

impl Wakes {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls `future` once, with a waker that counts.
pub(crate) fn poll_once<F: Future + ?Sized>(
    future: Pin<&mut F>,
    wakes: &Arc<Wakes>,
) -> Poll<F::Output> {
    let waker = Waker::from(Arc::clone(wakes));
    future.poll(&mut Context::from_waker(&waker))
}

/// Stands for another crate's `block_on`: it parks the thread, and knows nothing of fibers.
pub(crate) fn block_on_thread<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Stands for another crate's runtime: tasks that any of its threads polls.
#[derive(Default)]
pub(crate) struct Tasks {
    ready: Mutex<VecDeque<Arc<Task>>>,
    news: Condvar,
    left: AtomicUsize,
}

struct Task {
    tasks: Arc<Tasks>,
    work: Mutex<Option<Work>>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let tasks = Arc::clone(&self.tasks);
        tasks.ready.lock().unwrap().push_back(self);
        tasks.news.notify_one();
    }
}

impl Tasks {
    pub(crate) fn spawn(
        self: &Arc<Self>,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        self.left.fetch_add(1, Ordering::SeqCst);
        let work = Mutex::new(Some(Box::pin(work) as Work));
        let tasks = Arc::clone(self);
        Arc::new(Task { tasks, work }).wake();
    }

    /// Polls on this thread until all tasks have ended.
    pub(crate) fn run(&self) {
        while let Some(task) = self.next() {
            let waker = Waker::from(Arc::clone(&task));
            let mut work = task.work.lock().unwrap();
            let Some(future) = work.as_mut() else {
                continue;
            };
            if future
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_ready()
            {
                *work = None;
                self.left.fetch_sub(1, Ordering::SeqCst);
                let _ready = self.ready.lock().unwrap();
                self.news.notify_all();
            }
        }
    }

    fn next(&self) -> Option<Arc<Task>> {
        let mut ready = self.ready.lock().unwrap();
        loop {
            if self.left.load(Ordering::SeqCst) == 0 {
                return None;
            }
            match ready.pop_front() {
                Some(task) => return Some(task),
                None => ready = self.news.wait(ready).unwrap(),
            }
        }
    }
}

//! A bound on the number of handlers that compute at once.
//!
//! A computation takes memory and a worker. So a few run, some more wait, and the server refuses
//! others. This bounds its memory, whatever the requests.
//!
//! Each computation is a fiber of its own. It waits before its start, in the queue of a limited
//! dispatcher, because a fresh fiber starts on any idle worker. A started fiber that waited for a
//! permit would wait for its own worker, too, while another one is idle.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use pirn::dispatcher::Dispatcher;
use pirn::spawn::{JoinError, JoinHandle};
use pirn::sync::Semaphore;

/// Runs computations, and bounds the numbers of running and waiting ones.
#[derive(Debug)]
pub(crate) struct Computing {
    dispatcher: Dispatcher,
    /// One for each computation that runs or waits.
    places: Arc<Semaphore>,
}

/// A permit, in the closure of its computation.
struct Place(Arc<Semaphore>);

/// The number of computations that run or wait is at its limit.
#[derive(Debug)]
pub(crate) struct Busy;

/// Cancels its fiber when it is dropped.
#[derive(Debug)]
struct Cancelling<T>(JoinHandle<T>);

impl Computing {
    /// Returns a bound of `running` computations at once on the default runtime, and `waiting` more
    /// that wait.
    pub(crate) fn new(running: usize, waiting: usize) -> Computing {
        Computing {
            dispatcher: Dispatcher::default().limited(running),
            places: Arc::new(Semaphore::new(running + waiting)),
        }
    }

    /// Runs `compute` on a fiber of its own as soon as the limit allows. Dropping the future
    /// cancels the fiber. Its permit is released when the computation ends or, if it has not
    /// started, when its turn comes: until then it takes memory.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        compute: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Result<T, JoinError>, Busy> {
        self.places.try_acquire(1).ok_or(Busy)?.forget();
        let place = Place(Arc::clone(&self.places));
        let mut fiber = Cancelling(self.dispatcher.spawn(move || {
            let _place = place;
            compute()
        }));
        Ok((&mut fiber.0).await)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.add(1);
    }
}

impl<T> Drop for Cancelling<T> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl IntoResponse for Busy {
    fn into_response(self) -> Response {
        // A computation takes less than that.
        let later = [(RETRY_AFTER, "1")];
        (
            StatusCode::SERVICE_UNAVAILABLE,
            later,
            "others are computing",
        )
            .into_response()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::task::Poll;
    use std::time::{Duration, Instant};
    use std::{future, thread};

    use pirn::channel;
    use pirn::future::block_on;

    use super::*;
    use crate::unmeasured::unmeasured;

    /// Polls once.
    fn poll<F: Future>(mut future: Pin<&mut F>) -> Option<F::Output> {
        let once = future::poll_fn(|context| {
            Poll::Ready(match future.as_mut().poll(context) {
                Poll::Ready(output) => Some(output),
                Poll::Pending => None,
            })
        });
        block_on(once)
    }

    // Proves: N5-X-web.
    #[test]
    fn as_many_run_and_wait_as_may() {
        pirn::run(|| {
            let computing = Computing::new(2, 3);
            let (started, running) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
            let (gate, closed) = channel::bounded::<()>(0);
            // Runs until the gate closes, and returns the number of running ones at its start.
            let ask = || {
                let (started, running) = (started.clone(), running.clone());
                let closed = closed.clone();
                let mut run = Box::pin(computing.run(move || {
                    let others = running.fetch_add(1, SeqCst);
                    started.fetch_add(1, SeqCst);
                    assert!(closed.recv().is_err());
                    running.fetch_sub(1, SeqCst);
                    others
                }));
                match poll(run.as_mut()) {
                    None => Some(run),
                    Some(Err(Busy)) => None,
                    Some(Ok(_)) => panic!("the gate is open"),
                }
            };
            let await_started = |count| {
                while started.load(SeqCst) < count {
                    pirn::yield_now();
                }
            };
            let mut asked: Vec<_> = (0..5).map(|_| ask().expect("a place")).collect();
            assert!(ask().is_none());
            await_started(2);
            // A waiting computation that is dropped keeps its permit until its turn, and does not
            // run.
            drop(asked.pop());
            assert!(ask().is_none());
            // A running one is interrupted, and releases its permit and its turn.
            drop(asked.remove(0));
            await_started(3);
            asked.push(ask().expect("a place"));
            assert!(ask().is_none());
            drop(gate);
            for run in asked {
                let others = block_on(run).expect("a place").expect("a result");
                assert!(others < 2, "{others} others ran");
            }
            assert_eq!(started.load(SeqCst), 5);
        });
    }

    /// Each needs another one that computes at the same time, on another thread. Those that wait
    /// while two others run do not settle on a worker.
    // Proves: N5-X-web.
    #[test]
    fn two_compute_on_two_threads() {
        const ALL: usize = 200;
        if thread::available_parallelism().is_ok_and(|processors| processors.get() < 2) {
            return unmeasured("a default runtime of one worker, on one processor");
        }
        let arrived = Arc::new(AtomicUsize::new(0));
        let meet = move || {
            let pair = (arrived.fetch_add(1, SeqCst) / 2 + 1) * 2;
            let start = Instant::now();
            while arrived.load(SeqCst) < pair && start.elapsed() < LIMIT {
                thread::yield_now();
            }
            arrived.load(SeqCst) >= pair
        };
        pirn::run(|| {
            let computing = Computing::new(2, ALL);
            let (gate, closed) = channel::bounded::<()>(0);
            let hold = || {
                let closed = closed.clone();
                let mut run = Box::pin(computing.run(move || closed.recv().is_err()));
                assert!(poll(run.as_mut()).is_none());
                run
            };
            let holders = [hold(), hold()];
            let ask = |_| {
                let mut run = Box::pin(computing.run(meet.clone()));
                assert!(poll(run.as_mut()).is_none());
                run
            };
            let asked: Vec<_> = (0..ALL).map(ask).collect();
            // Time to start for those that should not.
            pirn::sleep(Duration::from_millis(20)).expect("no interrupt");
            drop(gate);
            for run in holders {
                assert!(block_on(run).expect("a place").expect("a result"));
            }
            for run in asked {
                let met = block_on(run).expect("a place").expect("a result");
                assert!(met, "it computed alone for {LIMIT:?}");
            }
        });
    }

    /// Arbitrary: long beside the times for which a busy machine stops a thread.
    const LIMIT: Duration = Duration::from_secs(10);
}

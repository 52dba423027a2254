//! The time limits of a connection, in either protocol.
//!
//! * No request is open: the client has one limit, the patience, to send the head of a request. It
//!   begins with the connection, or when the last answer has been written. Other bytes (a part of a
//!   head, the preface of HTTP/2, a ping) do not extend it.
//! * A handler runs: there is no limit here. The handlers have their own, and so have the bodies
//!   that they read (`bodies`).
//! * An answer is being sent: it has a limit from its head to its end. A client that does not read
//!   it is cut off.
//!
//! The service records starts and ends, on the fibers that poll handlers; [`Pace::keep`] is polled
//! beside the connection. All of this happens in polls, which must not wait. So it uses a lock of
//! the standard library, held for a few instructions.

use std::collections::BTreeMap;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, ready};
use std::time::{Duration, Instant};

use pirn::future::sleep_until;
use pirn::time;

/// The clock of one connection.
#[derive(Debug)]
pub(crate) struct Pace {
    patience: Duration,
    answer: Duration,
    state: Mutex<State>,
}

/// One request, from its head to the end of its answer; over when this is dropped.
#[derive(Debug)]
pub(crate) struct Asked {
    pace: Arc<Pace>,
    /// The number of its answer, once that has begun.
    answer: Option<u64>,
}

#[derive(Debug)]
struct State {
    /// Number of requests without a complete answer.
    asked: usize,
    /// The time since which there are none.
    quiet_since: Instant,
    /// The deadlines of answers, in the order in which they have begun, which is also the order of
    /// the deadlines.
    answers: BTreeMap<u64, Instant>,
    /// The number of the next answer.
    next: u64,
}

impl Pace {
    /// Starts the clock of a connection.
    #[expect(
        clippy::disallowed_methods,
        reason = "a lock for polls, which must not wait as fibers do"
    )]
    pub(crate) fn new(patience: Duration, answer: Duration) -> Arc<Pace> {
        let state = State {
            asked: 0,
            quiet_since: time::now(),
            answers: BTreeMap::new(),
            next: 0,
        };
        Arc::new(Pace {
            patience,
            answer,
            state: Mutex::new(state),
        })
    }

    /// Counts a request, at the end of its head.
    pub(crate) fn ask(self: &Arc<Self>) -> Asked {
        self.state().asked += 1;
        Asked {
            pace: Arc::clone(self),
            answer: None,
        }
    }

    /// Returns true if there is neither a request nor an answer.
    pub(crate) fn is_quiet(&self) -> bool {
        self.state().asked == 0
    }

    /// Returns the outcome of a connection, or `None` if it is overdue.
    pub(crate) async fn keep<C: Future>(
        &self,
        mut connection: Pin<&mut C>,
    ) -> Option<C::Output> {
        let mut set = time::now();
        let mut alarm = pin!(sleep_until(set));
        std::future::poll_fn(move |context| {
            if let Poll::Ready(ended) = connection.as_mut().poll(context) {
                return Poll::Ready(Some(ended));
            }
            loop {
                // The connection is polled again when this changes to anything earlier.
                let Some(due) = self.due() else {
                    return Poll::Pending;
                };
                if due <= time::now() {
                    return Poll::Ready(None);
                }
                if due != set {
                    alarm.reset(due);
                    set = due;
                }
                ready!(alarm.as_mut().poll(context));
            }
        })
        .await
    }

    /// Returns the present deadline of the connection.
    fn due(&self) -> Option<Instant> {
        let state = self.state();
        match state.asked {
            0 => Some(state.quiet_since + self.patience),
            _ => state.answers.values().next().copied(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code panics under it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked {
    /// Records the start of the answer.
    pub(crate) fn answer(&mut self) {
        let due = time::now() + self.pace.answer;
        let mut state = self.pace.state();
        let number = state.next;
        state.next += 1;
        state.answers.insert(number, due);
        self.answer = Some(number);
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let mut state = self.pace.state();
        if let Some(number) = self.answer {
            state.answers.remove(&number);
        }
        state.asked -= 1;
        state.quiet_since = time::now();
    }
}

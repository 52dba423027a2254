//! A thread that sends requests, so that keys are handled while a runtime is slow.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a program of plain threads, which looks at others' fibers"
)]

use std::io;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread;

use crate::wire::{Failure, Fiber, Snapshot, ask_fiber, ask_snapshot};

/// A handle of the requesting thread.
pub(super) struct Asker {
    questions: Sender<Question>,
    answers: Receiver<Answer>,
}

/// A request.
pub(super) enum Question {
    /// A snapshot.
    Snapshot,
    /// One fiber.
    Fiber(String),
}

/// An answer.
pub(super) enum Answer {
    /// To [`Question::Snapshot`].
    Snapshot(Result<Snapshot, Failure>),
    /// To [`Question::Fiber`], about this one.
    Fiber(String, Result<Fiber, Failure>),
}

impl Asker {
    /// Starts a thread that sends requests to `socket`. Its snapshots have at most `most` fibers of
    /// each worker.
    ///
    /// # Errors
    /// The system's error if no thread can be started.
    pub(super) fn start(socket: &Path, most: u64) -> io::Result<Asker> {
        let (questions, asked) = mpsc::channel();
        let (answered, answers) = mpsc::channel();
        let socket = socket.to_owned();
        let ask = move || {
            while let Ok(question) = asked.recv() {
                let answer = match question {
                    Question::Snapshot => Answer::Snapshot(ask_snapshot(&socket, most)),
                    Question::Fiber(id) => {
                        let answer = ask_fiber(&socket, &id);
                        Answer::Fiber(id, answer)
                    }
                };
                if answered.send(answer).is_err() {
                    return;
                }
            }
        };
        // The process ends without waiting for it.
        thread::Builder::new().name("asker".to_owned()).spawn(ask)?;
        Ok(Asker { questions, answers })
    }

    /// Sends a request to the thread.
    pub(super) fn ask(&self, question: Question) {
        // If the thread has panicked, `answer` panics.
        let _ = self.questions.send(question);
    }

    /// Returns the next answer, if one has come. Never blocks.
    ///
    /// # Panics
    /// If the thread has panicked.
    pub(super) fn answer(&self) -> Option<Answer> {
        match self.answers.try_recv() {
            Ok(answer) => Some(answer),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                panic!("the thread that asks has panicked")
            }
        }
    }
}

//! A thread that looks up names of functions, and writes the frames of stalls.
//!
//! Reading the program's debug information is slow, and must not delay the monitor. The thread
//! is started for the first stall, and ends with the monitor.

use std::sync::mpsc::{self, Sender};

use crate::fiber::thread_registry;
use crate::shim;

/// A job of the thread.
type Job = Box<dyn FnOnce() + Send>;

/// The sending end of the thread's job queue.
#[derive(Debug, Default)]
pub(super) struct Reporter(Option<Sender<Job>>);

impl Reporter {
    /// Sends `job` to the thread; drops it if the system cannot create the thread.
    pub(super) fn send(&mut self, name: &str, job: impl FnOnce() + Send + 'static) {
        let started = match self.0.take() {
            Some(sender) => Some(sender),
            None => start(name),
        };
        self.0 = started.filter(|sender| sender.send(Box::new(job)).is_ok());
    }
}

fn start(name: &str) -> Option<Sender<Job>> {
    let (sender, jobs) = mpsc::channel::<Job>();
    let body = move || {
        while let Ok(job) = thread_registry::rest(|| jobs.recv()) {
            job();
        }
    };
    // It ends when the sender is dropped.
    let thread = shim::thread::spawn(format!("{name}-report"), body);
    thread.ok().map(|_| sender)
}

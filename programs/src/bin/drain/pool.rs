//! Fibers that run commands, and the queue in front of them.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::sync::Arc;

use pirn::JoinHandle;
use pirn::channel::{self, Receiver, SendError, Sender};
use pirn::process::{Command, ExitStatus, Stdio};

/// Workers, which run [submitted](Pool::submit) jobs.
#[derive(Debug)]
pub(crate) struct Pool {
    queue: Sender<Job>,
    workers: Vec<JoinHandle<()>>,
}

/// A line, and the receiver of its command's outcome.
pub(crate) struct Job {
    pub(crate) line: Vec<u8>,
    pub(crate) tell: Box<dyn FnOnce(io::Result<ExitStatus>) + Send>,
}

impl Pool {
    /// Returns a pool of workers for a command: a program and its first arguments.
    pub(crate) fn new(command: Vec<String>, workers: usize) -> Pool {
        // A submitter waits for a worker, so that a job begins soon after it has been accepted.
        let (queue, jobs) = channel::bounded(workers);
        let command = Arc::new(command);
        let worker = |_| {
            let (jobs, command) = (jobs.clone(), Arc::clone(&command));
            pirn::spawn(move || work(&jobs, &command))
        };
        Pool {
            queue,
            workers: (0..workers).map(worker).collect(),
        }
    }

    /// Submits a job, waiting for capacity.
    ///
    /// # Errors
    /// The job, if the caller has been interrupted.
    pub(crate) fn submit(&self, job: Job) -> Result<(), SendError<Job>> {
        self.queue.send(job)
    }

    /// Waits until all jobs have been run. No job can be submitted after this.
    ///
    /// # Errors
    /// The interrupt of the caller.
    pub(crate) fn drain(&self) -> anyhow::Result<()> {
        self.queue.close();
        for worker in &self.workers {
            worker.wait()?;
        }
        Ok(())
    }
}

/// Runs one job after the other until the queue is closed and empty.
fn work(jobs: &Receiver<Job>, command: &[String]) {
    for Job { line, tell } in jobs.iter() {
        let mut args = command.iter().map(OsStr::new);
        let program = args.next().unwrap_or_default();
        let mut command = Command::new(program);
        command
            .args(args)
            .arg(OsStr::from_bytes(&line))
            .stdin(Stdio::null());
        // Ctrl-C goes to all processes of the foreground group, and would end accepted jobs.
        command.as_std_mut().process_group(0);
        tell(command.status());
    }
}

//! [`Child`]: a process that was started, and its end.
//!
//! Owns: waiting for the end of a child. Does not own: how the system tells of that
//! (`sys::ended`), the pipes (`pipe`), or children that nobody holds (`orphans`).

use std::fmt;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process;

use super::pipe::{ChildStderr, ChildStdin, ChildStdout};
use super::{ExitStatus, Output, orphans};
use crate::readiness::{Interest, Source};
use crate::scope::try_scope;
use crate::sys;
use crate::wait::{Reason, Spec, begin};

/// A process that was started, as [`std::process::Child`].
///
/// Dropped, it goes on, and nobody waits for it. What the system keeps of it after its end is given
/// back when the next child is started or dropped.
pub struct Child {
    /// Its standard input, if that is a pipe.
    pub stdin: Option<ChildStdin>,
    /// Its standard output, if that is a pipe.
    pub stdout: Option<ChildStdout>,
    /// Its standard error, if that is a pipe.
    pub stderr: Option<ChildStderr>,
    /// None once dropped.
    child: Option<process::Child>,
    /// There as soon as somebody has had to wait.
    end: Option<End>,
    /// Whether it is killed when this is dropped, unless it has ended.
    killed_on_drop: bool,
}

/// Where the system tells of the end.
struct End {
    /// Dropped first: the descriptor is open until it is watched no more.
    source: Source,
    descriptor: OwnedFd,
}

impl Child {
    /// # Errors
    /// What the system says of the pipes. The child is killed then.
    pub(super) fn new(mut child: process::Child) -> io::Result<Child> {
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut own = Child {
            stdin: None,
            stdout: None,
            stderr: None,
            child: Some(child),
            end: None,
            killed_on_drop: false,
        };
        let connect = || {
            own.stdin = pipes.0.map(ChildStdin::new).transpose()?;
            own.stdout = pipes.1.map(ChildStdout::new).transpose()?;
            own.stderr = pipes.2.map(ChildStderr::new).transpose()?;
            Ok(())
        };
        match connect() {
            Ok(()) => Ok(own),
            Err(error) => {
                let _ = own.kill();
                Err(error)
            }
        }
    }

    /// For a caller who does not give it to anybody: it ends with this, at the latest.
    pub(super) fn killed_on_drop(mut self) -> Child {
        self.killed_on_drop = true;
        self
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.as_ref().expect("not dropped").id()
    }

    /// Has the system end it now. Its status is still to be waited for.
    ///
    /// # Errors
    /// What the system says. That it has ended already is none.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn kill(&mut self) -> io::Result<()> {
        self.child().kill()
    }

    /// How it has ended, if it has.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child().try_wait()
    }

    /// Waits until it has ended, and returns how. Its standard input is closed first, so that a
    /// child that waits for more of it does not wait for ever.
    ///
    /// # Errors
    /// The interrupt that the caller is under: the child goes on, and can be waited for again. Or
    /// what the system says, when it has no descriptors left for instance.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        begin()?;
        drop(self.stdin.take());
        let spec = Spec::interruptible(Reason::Child);
        loop {
            if self.end.is_none() {
                if let Some(status) = self.try_wait()? {
                    return Ok(status);
                }
                self.end = Some(End::of(self.id())?);
            }
            let (Some(end), Some(child)) = (&self.end, &mut self.child) else {
                unreachable!("not dropped, and made above");
            };
            let seen = end.source.look();
            if let Some(status) = child.try_wait()? {
                self.end = None;
                return Ok(status);
            }
            end.source.clear(seen, Interest::Readable);
            let raw = end.descriptor.as_raw_fd();
            end.source.wait(raw, Interest::Readable, &spec)?;
        }
    }

    /// Waits until it has ended, and returns how, with all that it has written to those of its
    /// standard output and error that are pipes. Its standard input is closed first.
    ///
    /// Both are read at the same time, so the child never waits for a full pipe; on a plain
    /// thread too, by a fiber of the current runtime.
    ///
    /// # Errors
    /// Like [`wait`](Child::wait). What has been read is lost then, and the child goes on without
    /// anybody to read the rest; to keep it, read the pipes oneself and wait then.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn wait_with_output(mut self) -> io::Result<Output> {
        begin()?;
        drop(self.stdin.take());
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        match (self.stdout.take(), self.stderr.take()) {
            (None, None) => 0,
            (Some(mut pipe), None) => pipe.read_to_end(&mut stdout)?,
            (None, Some(mut pipe)) => pipe.read_to_end(&mut stderr)?,
            (Some(mut output), Some(mut error)) => try_scope(|s| {
                drop(s.spawn(|| error.read_to_end(&mut stderr)));
                output.read_to_end(&mut stdout)
            })?,
        };
        Ok(Output {
            status: self.wait()?,
            stdout,
            stderr,
        })
    }

    fn child(&mut self) -> &mut process::Child {
        self.child.as_mut().expect("not dropped")
    }
}

impl End {
    fn of(child: u32) -> io::Result<End> {
        Ok(End {
            descriptor: sys::ended(child)?,
            source: Source::new()?,
        })
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.killed_on_drop {
            // Nothing happens to one whose end has been waited for.
            let _ = self.kill();
        }
        orphans::look_after();
        self.child.take().into_iter().for_each(orphans::keep);
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child")
            .field("id", &self.id())
            .field("stdin", &self.stdin)
            .field("stdout", &self.stdout)
            .field("stderr", &self.stderr)
            .finish_non_exhaustive()
    }
}

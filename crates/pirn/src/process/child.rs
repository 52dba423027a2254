//! [`Child`]: a process that was started.

// Owns: waiting for the end of a child, and what its drop does. Does not own: how the system
// reports the end (`sys::ended`), the pipes (`pipe`), or dropped children (`orphans`).

use std::fmt;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process;

use super::pipe::{ChildStderr, ChildStdin, ChildStdout};
use super::{ExitStatus, Output, orphans};
use crate::base::choice::Operation;
use crate::readiness::{Interest, Source};
use crate::scope::try_scope;
use crate::sys;
use crate::wait::{Interrupt, Reason, Spec, begin};

/// A process that was started, like [`std::process::Child`].
///
/// The child keeps running when its handle is dropped, unless
/// [`kill_on_drop`](super::Command::kill_on_drop) was set. The status of a dropped child is
/// collected when the next child is started or dropped.
///
/// `child.stdout.take()` takes a pipe out and keeps the handle usable. After a move of the field
/// only the pipe can be used, and the process counts as dropped at the end of the block.
///
/// # Examples
/// ```
/// use pirn::process::Command;
///
/// let statuses = pirn::run(|| {
///     let mut children = [Command::new("true").spawn()?, Command::new("false").spawn()?];
///     std::io::Result::Ok(children.each_mut().map(|child| child.wait()))
/// })?;
/// let successes = statuses.map(|status| status.is_ok_and(|status| status.success()));
/// assert_eq!(successes, [true, false]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[non_exhaustive]
pub struct Child {
    /// Dropped first: a child that is killed on drop is killed before its pipes are closed, so it
    /// does not act on the end of its input.
    process: Process,
    /// Its standard input, if that is a pipe.
    pub stdin: Option<ChildStdin>,
    /// Its standard output, if that is a pipe.
    pub stdout: Option<ChildStdout>,
    /// Its standard error, if that is a pipe.
    pub stderr: Option<ChildStderr>,
}

/// The process. It implements `Drop` in place of [`Child`], so that fields of a `Child` can be
/// moved out.
struct Process {
    /// None once dropped.
    child: Option<process::Child>,
    /// Its status has been returned: another process may have its number now.
    waited_for: bool,
    /// Set at the first call that has to wait.
    end: Option<End>,
    /// Whether dropping this handle kills the child, unless it has ended.
    killed_on_drop: bool,
}

/// The source that reports the child's end.
struct End {
    /// Dropped first: the descriptor stays open until it is no longer watched.
    source: Source,
    descriptor: OwnedFd,
}

impl Child {
    /// # Errors
    /// The operating system's error for the pipes. The child is killed then.
    pub(super) fn new(mut child: process::Child) -> io::Result<Child> {
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut own = Child {
            process: Process {
                child: Some(child),
                waited_for: false,
                end: None,
                killed_on_drop: false,
            },
            stdin: None,
            stdout: None,
            stderr: None,
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

    /// Returns the child, set to be killed when this handle is dropped.
    pub(super) fn killed_on_drop(mut self) -> Child {
        self.process.killed_on_drop = true;
        self
    }

    /// Returns true if the child's status has been returned.
    pub(super) fn has_been_waited_for(&self) -> bool {
        self.process.waited_for
    }

    /// Returns the process id.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let mut child = Command::new("true").spawn()?;
    /// assert_ne!(child.id(), std::process::id());
    /// child.wait()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "pid")]
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Kills the process. Its status still has to be waited for.
    ///
    /// # Errors
    /// The operating system's error. It is no error if the process has already ended.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let mut child = Command::new("sleep").arg("60").spawn()?;
    /// child.kill()?;
    /// assert!(!child.wait()?.success());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "start_kill")]
    pub fn kill(&mut self) -> io::Result<()> {
        self.process.child().kill()
    }

    /// Returns the exit status if the child has ended, else `None`.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let mut child = Command::new("sleep").arg("60").spawn()?;
    /// assert!(child.try_wait()?.is_none());
    /// child.kill()?;
    /// child.wait()?;
    /// assert!(child.try_wait()?.is_some());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.process.try_wait()
    }

    /// Waits until the child has ended; returns its exit status. Its standard input is closed
    /// first, so that a child that reads from it does not wait indefinitely.
    ///
    /// # Errors
    /// The caller's interrupt: the child keeps running and can be waited for again. Or the
    /// operating system's error, for instance if no descriptors are left.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let mut child = Command::new("sh").args(["-c", "exit 3"]).spawn()?;
    /// assert_eq!(child.wait()?.code(), Some(3));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "waitpid")]
    #[track_caller]
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        begin(Operation::Io, 0)?;
        drop(self.stdin.take());
        self.process.wait()
    }

    /// Waits until the child has ended. Returns its exit status and what it wrote to those of its
    /// standard output and error that are pipes. Its standard input is closed first.
    ///
    /// Both are read at the same time, so the child never waits for a full pipe. On a plain thread
    /// a fiber of the current runtime helps.
    ///
    /// # Errors
    /// Like [`wait`](Child::wait). The data read so far are lost then. The child keeps running with
    /// its output unread, or is killed if [`kill_on_drop`](super::Command::kill_on_drop) was set,
    /// since this call drops the handle. Read the pipes in the caller and then wait, to keep the
    /// data. If both are pipes and the runtime shuts down, the error is that of
    /// [`Interrupt::Cancelled`], also in a [`shield`](crate::cancel::shield).
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::{Command, Stdio};
    ///
    /// let child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
    /// let output = child.wait_with_output()?;
    /// assert_eq!(output.stdout, b"hello\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn wait_with_output(mut self) -> io::Result<Output> {
        begin(Operation::Io, 0)?;
        drop(self.stdin.take());
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        match (self.stdout.take(), self.stderr.take()) {
            (None, None) => 0,
            (Some(mut pipe), None) => pipe.read_to_end(&mut stdout)?,
            (None, Some(mut pipe)) => pipe.read_to_end(&mut stderr)?,
            (Some(mut output), Some(mut error)) => try_scope(|s| {
                let reader = s.try_spawn(|| error.read_to_end(&mut stderr));
                reader.map_err(|_| Interrupt::Cancelled)?;
                output.read_to_end(&mut stdout)
            })?,
        };
        Ok(Output {
            status: self.wait()?,
            stdout,
            stderr,
        })
    }
}

impl Process {
    fn id(&self) -> u32 {
        self.child.as_ref().expect("not dropped").id()
    }

    fn child(&mut self) -> &mut process::Child {
        self.child.as_mut().expect("not dropped")
    }

    fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let status = self.child().try_wait()?;
        self.waited_for |= status.is_some();
        Ok(status)
    }

    #[track_caller]
    fn wait(&mut self) -> io::Result<ExitStatus> {
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
                self.waited_for = true;
                self.end = None;
                return Ok(status);
            }
            end.source.clear(seen, Interest::Readable);
            let raw = end.descriptor.as_raw_fd();
            end.source.wait(raw, Interest::Readable, &spec)?;
        }
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

impl Drop for Process {
    fn drop(&mut self) {
        if self.killed_on_drop {
            // No effect on a child that has been waited for.
            let _ = self.child().kill();
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

//! The pipes to a child: its standard input, output and error.

// Owns: our ends, which are non-blocking. The mode of a pipe's two ends is independent, so the
// child notices nothing. Does not own: when an end is ready (`readiness`).

use std::fmt;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::process::{self, Stdio};
use std::time::Duration;

use crate::readiness::{Interest, Source};
use crate::sys;

/// Our end of a pipe.
pub(super) struct Pipe<E> {
    /// Dropped first: the descriptor stays open until it is no longer watched.
    source: Source,
    end: E,
}

impl<E: From<OwnedFd> + Into<OwnedFd> + AsFd> Pipe<E> {
    /// # Errors
    /// Returns the operating system's error.
    fn new(end: OwnedFd) -> io::Result<Pipe<E>> {
        sys::set_blocking(end.as_fd(), false)?;
        Ok(Pipe {
            source: Source::new()?,
            end: end.into(),
        })
    }

    /// Returns the descriptor in blocking mode, as programs expect it.
    ///
    /// # Panics
    /// If the system refuses to change the mode, which it has no reason to.
    fn into_blocking(self) -> OwnedFd {
        let Pipe { source, end } = self;
        drop(source);
        let set = sys::set_blocking(end.as_fd(), true);
        set.expect("a pipe of ours that may block");
        end.into()
    }
}

impl Pipe<PipeReader> {
    #[track_caller]
    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        let limit = limit(into);
        let attempt = || (&self.end).read(into);
        let raw = self.end.as_raw_fd();
        self.source
            .operate(raw, Interest::Readable, limit, attempt, |_| false)
    }
}

impl Pipe<PipeWriter> {
    #[track_caller]
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let attempt = || (&self.end).write(bytes);
        let raw = self.end.as_raw_fd();
        self.source
            .operate(raw, Interest::Writable, limit(bytes), attempt, |_| false)
    }
}

/// Returns the limit of a call with this buffer. Without bytes the system returns at once, also if
/// the pipe is empty or full.
fn limit(buffer: &[u8]) -> Option<Duration> {
    buffer.is_empty().then_some(Duration::ZERO)
}

/// Defines what the three types have in common.
macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $end:ty) => {
        $(#[$doc])*
        pub struct $name(Pipe<$end>);

        impl $name {
            pub(super) fn new(end: impl Into<OwnedFd>) -> io::Result<$name> {
                Pipe::new(end.into()).map($name)
            }
        }

        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.0.end.as_fd()
            }
        }

        impl AsRawFd for $name {
            fn as_raw_fd(&self) -> RawFd {
                self.0.end.as_raw_fd()
            }
        }

        /// Returns the descriptor in blocking mode, as other processes expect it.
        impl From<$name> for OwnedFd {
            fn from(pipe: $name) -> OwnedFd {
                pipe.0.into_blocking()
            }
        }

        /// Returns the descriptor in blocking mode, as other processes expect it.
        impl IntoRawFd for $name {
            fn into_raw_fd(self) -> RawFd {
                OwnedFd::from(self).into_raw_fd()
            }
        }

        /// Fails with the operating system's error, or if there are too many pipes and sockets.
        /// Duplicates of the descriptor become non-blocking too. The kind of the descriptor is not
        /// checked.
        impl TryFrom<OwnedFd> for $name {
            type Error = io::Error;

            fn try_from(descriptor: OwnedFd) -> io::Result<$name> {
                $name::new(descriptor)
            }
        }

        /// Like the conversion from a descriptor.
        impl TryFrom<process::$name> for $name {
            type Error = io::Error;

            fn try_from(pipe: process::$name) -> io::Result<$name> {
                $name::new(pipe)
            }
        }

        /// Makes the pipe a standard stream of another child.
        impl From<$name> for Stdio {
            fn from(pipe: $name) -> Stdio {
                OwnedFd::from(pipe).into()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.0.end).finish()
            }
        }
    };
}

macro_rules! reader {
    ($name:ident) => {
        impl Read for &$name {
            #[track_caller]
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                self.0.read(into)
            }
        }

        impl Read for $name {
            #[track_caller]
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                self.0.read(into)
            }
        }
    };
}

handle! {
    /// The pipe to a child's standard input. Dropping it closes it: the child sees the end of its
    /// input.
    ///
    /// Implements `Write` by value and by reference. A write parks the fiber while the pipe is
    /// full, and is an interruption point: an interrupted write has written nothing. If the child
    /// no longer reads, it fails with `BrokenPipe`.
    ///
    /// # Examples
    /// ```
    /// use std::io::Write;
    ///
    /// use pirn::process::{Command, Stdio};
    ///
    /// let mut wc = Command::new("wc");
    /// let mut child = wc.arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    /// let mut stdin = child.stdin.take().expect("a pipe");
    /// stdin.write_all(b"hello")?;
    /// drop(stdin);
    /// let output = child.wait_with_output()?;
    /// assert_eq!(output.stdout.trim_ascii(), b"5");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ChildStdin, PipeWriter
}

handle! {
    /// The pipe from a child's standard output.
    ///
    /// Implements `Read` by value and by reference. A read parks the fiber while the pipe is empty,
    /// and is an interruption point: an interrupted read has read nothing. It returns the end once
    /// the child has ended, and all processes that inherited its output.
    ///
    /// # Examples
    /// ```
    /// use std::io::{BufRead, BufReader};
    ///
    /// use pirn::process::{Command, Stdio};
    ///
    /// let mut shell = Command::new("sh");
    /// let mut child = shell.args(["-c", "echo one; echo two"]).stdout(Stdio::piped()).spawn()?;
    /// let stdout = child.stdout.take().expect("a pipe");
    /// assert_eq!(BufReader::new(stdout).lines().count(), 2);
    /// child.wait()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ChildStdout, PipeReader
}

handle! {
    /// The pipe from a child's standard error, otherwise like [`ChildStdout`].
    ///
    /// # Examples
    /// ```
    /// use std::io::Read;
    ///
    /// use pirn::process::{Command, Stdio};
    ///
    /// let mut shell = Command::new("sh");
    /// let mut child = shell.args(["-c", "echo oh >&2"]).stderr(Stdio::piped()).spawn()?;
    /// let mut text = String::new();
    /// child.stderr.take().expect("a pipe").read_to_string(&mut text)?;
    /// assert_eq!(text, "oh\n");
    /// child.wait()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ChildStderr, PipeReader
}

reader!(ChildStdout);
reader!(ChildStderr);

impl Write for &ChildStdin {
    #[track_caller]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    /// Nothing is buffered here.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for ChildStdin {
    #[track_caller]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    /// Nothing is buffered here.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! Standard input, output and error.
//!
//! The process shares them with others, so they cannot be told not to block. Whoever wants to
//! read or write waits until the system says that it need not wait (`readiness`), and then hands the
//! call over, as for a file: somebody else in between may be faster. One call for each of the three
//! at a time, so that they never hold more than a thread each.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::OnceLock;

use crate::blocking::file_call;
use crate::readiness::{Interest, Source};
use crate::sync::Mutex;
use crate::sys;

/// The process's standard input: [`stdin`].
#[derive(Debug, Clone, Copy)]
pub struct Stdin(());

/// The process's standard output: [`stdout`].
#[derive(Debug, Clone, Copy)]
pub struct Stdout(());

/// The process's standard error: [`stderr`].
#[derive(Debug, Clone, Copy)]
pub struct Stderr(());

/// One of the three.
struct Stream {
    /// Who is at it.
    turn: Mutex<()>,
    watched: OnceLock<Watched>,
}

/// Once it has been used: the stream by a descriptor of ours, which stays open.
struct Watched {
    source: Source,
    file: File,
}

static STDIN: Stream = Stream::new();
static STDOUT: Stream = Stream::new();
static STDERR: Stream = Stream::new();

/// The process's standard input. To read from it parks a fiber, and blocks a plain thread.
///
/// It has no buffer: put a [`BufReader`](std::io::BufReader) around it, and one only. What
/// [`std::io::stdin`] has in its buffer is not read here.
///
/// A read is an interruption point until there is something to be read: an interrupted one has
/// taken nothing.
///
/// ```no_run
/// use std::io::{BufRead, BufReader};
///
/// for line in BufReader::new(pirn::io::stdin()).lines() {
///     println!("read: {}", line?);
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub fn stdin() -> Stdin {
    Stdin(())
}

/// The process's standard output, through the buffer of [`std::io::stdout`], so that what is printed
/// there comes in the same order. To write to it parks a fiber, and blocks a plain thread.
///
/// Each call is handed to another thread: [`fs`](crate::fs) says what that costs. A write is an
/// interruption point until there is room: an interrupted one has written nothing.
#[must_use]
pub fn stdout() -> Stdout {
    Stdout(())
}

/// The process's standard error, which has no buffer; otherwise as [`stdout`].
#[must_use]
pub fn stderr() -> Stderr {
    Stderr(())
}

impl Stream {
    const fn new() -> Stream {
        Stream {
            turn: Mutex::new(()),
            watched: OnceLock::new(),
        }
    }

    /// Does `call` when the system says that it need not wait.
    #[track_caller]
    fn operate<T: Send>(
        &self,
        stream: BorrowedFd<'_>,
        interest: Interest,
        call: impl FnOnce(&File) -> io::Result<T> + Send,
    ) -> io::Result<T> {
        let _turn = self.turn.lock_interruptible()?;
        let Watched { source, file } = self.watch(stream)?;
        let attempt = || {
            let ready = match interest {
                Interest::Readable => sys::is_readable(file.as_fd())?,
                Interest::Writable => sys::is_writable(file.as_fd())?,
            };
            ready.then_some(()).ok_or(ErrorKind::WouldBlock.into())
        };
        source.operate(file.as_raw_fd(), interest, None, attempt, |()| false)?;
        file_call(|| call(file))
    }

    /// By whoever's turn it is.
    fn watch(&self, stream: BorrowedFd<'_>) -> io::Result<&Watched> {
        if self.watched.get().is_none() {
            let watched = Watched {
                source: Source::new()?,
                file: stream.try_clone_to_owned()?.into(),
            };
            let _ = self.watched.set(watched);
        }
        Ok(self.watched.get().expect("set above"))
    }
}

impl Read for &Stdin {
    #[track_caller]
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let own = io::stdin();
        STDIN.operate(own.as_fd(), Interest::Readable, |mut file| file.read(into))
    }
}

impl Read for Stdin {
    #[track_caller]
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        (&*self).read(into)
    }
}

macro_rules! writer {
    ($name:ident, $stream:ident, $own:path) => {
        impl Write for &$name {
            #[track_caller]
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                let own = $own();
                $stream.operate(own.as_fd(), Interest::Writable, |_| $own().write(bytes))
            }

            #[track_caller]
            fn flush(&mut self) -> io::Result<()> {
                let own = $own();
                $stream.operate(own.as_fd(), Interest::Writable, |_| $own().flush())
            }
        }

        impl Write for $name {
            #[track_caller]
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                (&*self).write(bytes)
            }

            #[track_caller]
            fn flush(&mut self) -> io::Result<()> {
                (&*self).flush()
            }
        }
    };
}

writer!(Stdout, STDOUT, io::stdout);
writer!(Stderr, STDERR, io::stderr);

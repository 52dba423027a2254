//! Standard input, output and error.
//!
//! The process shares the descriptors with others, so they must stay blocking. A call waits until
//! the system reports the stream ready (`readiness`). It is then handed over like a call on a file:
//! another process may take the data in between. Each of the three has one call at a time, so it
//! never holds more than one thread.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::OnceLock;

use crate::base::choice::Operation;
use crate::blocking::file_call;
use crate::readiness::{Interest, Source};
use crate::sync::Mutex;
use crate::sys;
use crate::wait::begin;

/// A handle to the process's standard input; made by [`stdin`].
///
/// # Examples
/// ```no_run
/// use std::io::Read;
///
/// let mut all = String::new();
/// pirn::io::stdin().read_to_string(&mut all)?;
/// println!("{} bytes", all.len());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Stdin(());

/// A handle to the process's standard output; made by [`stdout`].
///
/// # Examples
/// ```
/// use std::io::Write;
///
/// let mut stdout = pirn::io::stdout();
/// writeln!(stdout, "hello")?;
/// stdout.flush()?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Stdout(());

/// A handle to the process's standard error; made by [`stderr`].
///
/// # Examples
/// ```
/// use std::io::Write;
///
/// writeln!(pirn::io::stderr(), "something is wrong")?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Stderr(());

/// One of the three streams.
struct Stream {
    /// Held by the caller that uses the stream.
    turn: Mutex<()>,
    watched: OnceLock<Watched>,
}

/// The stream by our own descriptor, which stays open. Made at the first use.
struct Watched {
    source: Source,
    file: File,
}

static STDIN: Stream = Stream::new();
static STDOUT: Stream = Stream::new();
static STDERR: Stream = Stream::new();

/// Returns a handle to the process's standard input. A read parks a fiber, and blocks a plain
/// thread.
///
/// It has no buffer: put one [`BufReader`](std::io::BufReader) around it. Data in the buffer of
/// [`std::io::stdin`] are not read here.
///
/// # Cancellation
/// A read is an interruption point until input is available. An interrupted read has taken nothing.
///
/// # Examples
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

/// Returns a handle to the process's standard output, through the buffer of [`std::io::stdout`], so
/// that the order with `println!` is kept. A write parks a fiber, and blocks a plain thread. The
/// text of one `write!` or `writeln!` is written as a whole, without text of other fibers in
/// between.
///
/// Each call is handed to another thread; [`fs`](crate::fs) has the cost. That thread takes the lock
/// of [`std::io::Stdout::lock`]: a fiber that has this lock itself waits indefinitely.
///
/// # Cancellation
/// A write is an interruption point until the stream accepts data. An interrupted write has written
/// nothing, an interrupted `write_all` or `writeln!` perhaps a part. Cancelled code writes under
/// [`shield`](crate::cancel::shield).
///
/// # Examples
/// ```
/// use std::io::Write;
///
/// pirn::run(|| writeln!(pirn::io::stdout(), "hello"))?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub fn stdout() -> Stdout {
    Stdout(())
}

/// Returns a handle to the process's standard error, which has no buffer; otherwise like
/// [`stdout`].
///
/// # Examples
/// ```
/// use std::io::Write;
///
/// pirn::run(|| writeln!(pirn::io::stderr(), "something is wrong"))?;
/// # Ok::<(), std::io::Error>(())
/// ```
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

    /// Calls `call` once the system reports that it need not wait.
    #[track_caller]
    fn operate<T: Send>(
        &self,
        stream: BorrowedFd<'_>,
        interest: Interest,
        call: impl FnOnce(&File) -> io::Result<T> + Send,
    ) -> io::Result<T> {
        let _turn = self.turn.lock_interruptible()?;
        self.operate_in_turn(stream, interest, call)
    }

    /// Calls `write` until it has taken all of `bytes`, without writes of others in between.
    #[track_caller]
    fn write_all(
        &self,
        stream: BorrowedFd<'_>,
        bytes: &[u8],
        write: impl Fn(&[u8]) -> io::Result<usize> + Sync,
    ) -> io::Result<()> {
        if bytes.is_empty() {
            return nothing();
        }
        let _turn = self.turn.lock_interruptible()?;
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.operate_in_turn(stream, Interest::Writable, |_| write(rest)) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => rest = &rest[n..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    #[track_caller]
    fn operate_in_turn<T: Send>(
        &self,
        stream: BorrowedFd<'_>,
        interest: Interest,
        call: impl FnOnce(&File) -> io::Result<T> + Send,
    ) -> io::Result<T> {
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

    /// Requires the turn.
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
        if into.is_empty() {
            return nothing().map(|()| 0);
        }
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

/// A call that has nothing to transfer. It does not wait, and is an interruption point as the others
/// are.
fn nothing() -> io::Result<()> {
    begin(Operation::Io, 0).map_err(io::Error::from)
}

macro_rules! writer {
    ($name:ident, $stream:ident, $own:path, $flush:expr) => {
        impl Write for &$name {
            #[track_caller]
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                if bytes.is_empty() {
                    return nothing().map(|()| 0);
                }
                let own = $own();
                $stream.operate(own.as_fd(), Interest::Writable, |_| $own().write(bytes))
            }

            #[track_caller]
            fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
                $stream.write_all($own().as_fd(), bytes, |part| $own().write(part))
            }

            #[track_caller]
            fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
                match text.as_str() {
                    Some(text) => self.write_all(text.as_bytes()),
                    None => self.write_all(text.to_string().as_bytes()),
                }
            }

            #[track_caller]
            fn flush(&mut self) -> io::Result<()> {
                $flush()
            }
        }

        impl Write for $name {
            #[track_caller]
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                (&*self).write(bytes)
            }

            #[track_caller]
            fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
                (&*self).write_all(bytes)
            }

            #[track_caller]
            fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
                (&*self).write_fmt(text)
            }

            #[track_caller]
            fn flush(&mut self) -> io::Result<()> {
                (&*self).flush()
            }
        }
    };
}

writer!(Stdout, STDOUT, io::stdout, flush);
// It has no buffer.
writer!(Stderr, STDERR, io::stderr, nothing);

/// Writes what the buffer of `std` holds.
#[track_caller]
fn flush() -> io::Result<()> {
    let own = io::stdout();
    STDOUT.operate(own.as_fd(), Interest::Writable, |_| io::stdout().flush())
}

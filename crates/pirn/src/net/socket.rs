//! What all sockets have in common: the system's handle, what is known of its readiness, and the
//! limits of its operations.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::panic::Location;
use std::sync::Arc;
#[cfg(feature = "futures")]
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::SockRef;

use crate::readiness::{Interest, Source};
use crate::shim::atomic::{AtomicU64, Ordering};
use crate::wait::{Reason, Spec, deadline_in};

/// A socket that does not block its thread.
pub(super) struct Socket<S> {
    /// Dropped first: the handle is open until it is in no driver any more.
    source: Source,
    inner: S,
    read_limit: Limit,
    write_limit: Limit,
}

/// How long one operation may wait, in nanoseconds; 0 for any time.
#[derive(Debug, Default)]
pub(super) struct Limit(AtomicU64);

impl Limit {
    fn get(&self) -> Option<Duration> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            nanos => Some(Duration::from_nanos(nanos)),
        }
    }

    /// # Errors
    /// Of kind `InvalidInput`: the limit is zero.
    fn set(&self, limit: Option<Duration>) -> io::Result<()> {
        if limit == Some(Duration::ZERO) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a time limit of zero; None is none",
            ));
        }
        let nanos = |limit: Duration| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        self.0.store(limit.map_or(0, nanos), Ordering::Relaxed);
        Ok(())
    }
}

impl<S: AsRawFd> Socket<S> {
    /// Takes a handle that has been set not to block.
    ///
    /// # Errors
    /// There are too many sources.
    pub(super) fn new(inner: S) -> io::Result<Arc<Socket<S>>> {
        Ok(Arc::new(Socket {
            source: Source::new()?,
            inner,
            read_limit: Limit::default(),
            write_limit: Limit::default(),
        }))
    }

    pub(super) fn inner(&self) -> &S {
        &self.inner
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// The handle, if nobody else has the socket.
    pub(super) fn into_inner(socket: Arc<Self>) -> Result<S, Arc<Self>> {
        let Socket { source, inner, .. } = Arc::try_unwrap(socket)?;
        drop(source);
        Ok(inner)
    }

    /// Does `attempt` as soon as that need not wait.
    #[inline]
    #[track_caller]
    pub(super) fn read_by<R>(
        &self,
        mut attempt: impl FnMut(&S) -> io::Result<R>,
        emptied: impl Fn(&R) -> bool,
    ) -> io::Result<R> {
        let raw = self.inner.as_raw_fd();
        let limit = self.read_limit.get();
        let attempt = || attempt(&self.inner);
        self.source
            .operate(raw, Interest::Readable, limit, attempt, emptied)
    }

    /// As [`read_by`](Self::read_by), for what waits until there is room.
    #[inline]
    #[track_caller]
    pub(super) fn write_by<R>(
        &self,
        mut attempt: impl FnMut(&S) -> io::Result<R>,
        filled: impl Fn(&R) -> bool,
    ) -> io::Result<R> {
        let raw = self.inner.as_raw_fd();
        let limit = self.write_limit.get();
        let attempt = || attempt(&self.inner);
        self.source
            .operate(raw, Interest::Writable, limit, attempt, filled)
    }

    /// Reads into a buffer of `len` bytes. Where a read takes `all` there is, what is less than that was
    /// all.
    #[inline]
    #[track_caller]
    pub(super) fn read_some(
        &self,
        len: usize,
        all: bool,
        attempt: impl FnMut(&S) -> io::Result<usize>,
    ) -> io::Result<usize> {
        self.read_by(attempt, |&n| all && 0 < n && n < len)
    }

    /// Writes out of a buffer of `len` bytes. What is less than that was all there was room for.
    #[inline]
    #[track_caller]
    pub(super) fn write_some(
        &self,
        len: usize,
        attempt: impl FnMut(&S) -> io::Result<usize>,
    ) -> io::Result<usize> {
        self.write_by(attempt, |&n| n < len)
    }

    /// As [`read_some`](Self::read_some), for a future.
    #[cfg(feature = "futures")]
    #[inline]
    pub(super) fn poll_read(
        &self,
        context: &mut Context<'_>,
        len: usize,
        all: bool,
        mut attempt: impl FnMut(&S) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let raw = self.inner.as_raw_fd();
        let attempt = || attempt(&self.inner);
        let emptied = |&n: &usize| all && 0 < n && n < len;
        self.source
            .poll(raw, Interest::Readable, context, attempt, emptied)
    }

    /// As [`write_some`](Self::write_some), for a future.
    #[cfg(feature = "futures")]
    #[inline]
    pub(super) fn poll_write(
        &self,
        context: &mut Context<'_>,
        len: usize,
        mut attempt: impl FnMut(&S) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let raw = self.inner.as_raw_fd();
        let attempt = || attempt(&self.inner);
        self.source
            .poll(raw, Interest::Writable, context, attempt, |&n| n < len)
    }

    /// Waits until a connection that is under way is there, which `is_there` tells, or has failed;
    /// reports name the line `at`.
    pub(super) fn await_connection(
        &self,
        limit: Option<Duration>,
        at: &'static Location<'static>,
        is_there: impl Fn(&S) -> io::Result<bool>,
    ) -> io::Result<()>
    where
        S: AsFd,
    {
        let raw = self.inner.as_raw_fd();
        let deadline = limit.and_then(deadline_in);
        let spec = Spec::interruptible(Reason::Writable).until(deadline).at(at);
        loop {
            let seen = self.source.look();
            if let Some(error) = SockRef::from(&self.inner).take_error()? {
                return Err(error);
            }
            if is_there(&self.inner)? {
                return Ok(());
            }
            self.source.clear(seen, Interest::Writable);
            self.source.wait(raw, Interest::Writable, &spec)?;
        }
    }

    pub(super) fn read_timeout(&self) -> Option<Duration> {
        self.read_limit.get()
    }

    pub(super) fn write_timeout(&self) -> Option<Duration> {
        self.write_limit.get()
    }

    pub(super) fn set_read_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        self.read_limit.set(limit)
    }

    pub(super) fn set_write_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        self.write_limit.set(limit)
    }
}

impl<S: fmt::Debug> fmt::Debug for Socket<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// The length of buffers together, as far as the system takes them in one call.
pub(super) fn total(lengths: impl Iterator<Item = usize>) -> usize {
    lengths.take(MOST_BUFFERS).fold(0, usize::saturating_add)
}

/// The most buffers of one call on Linux and elsewhere (`IOV_MAX`); what is not taken of more is not
/// for want of room.
const MOST_BUFFERS: usize = 1_024;

/// The traits that make a handle of a socket the system's, and the other way round.
///
/// `$name` has one field, `socket`, an `Arc<Socket<$std>>`.
macro_rules! handle {
    ($name:ident, $std:ty) => {
        impl $name {
            /// Makes another handle to the same socket; no system call.
            ///
            /// # Errors
            /// None.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            pub fn try_clone(&self) -> io::Result<$name> {
                Ok($name {
                    socket: Arc::clone(&self.socket),
                })
            }

            /// Takes the socket of `std`'s out, and has it block again. It has no limits then: set
            /// them anew.
            ///
            /// # Errors
            /// The handle itself, if the socket has others.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            pub fn into_std(self) -> Result<$std, $name> {
                let inner =
                    Socket::into_inner(self.socket).map_err(|socket| $name { socket })?;
                // It cannot fail on an open socket.
                let _ = inner.set_nonblocking(false);
                Ok(inner)
            }

            /// Takes the error that the system has kept for this socket.
            ///
            /// # Errors
            /// What the system says.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            pub fn take_error(&self) -> io::Result<Option<io::Error>> {
                self.socket.inner().take_error()
            }
        }

        /// Fails with what the system says, or if there are too many sockets. A handle of
        /// `std`'s that is left, made by its `try_clone`, does not block any more. Limits that were
        /// set there do not hold here: set them anew.
        impl TryFrom<$std> for $name {
            type Error = io::Error;

            fn try_from(inner: $std) -> io::Result<$name> {
                inner.set_nonblocking(true)?;
                Ok($name {
                    socket: Socket::new(inner)?,
                })
            }
        }

        /// As from `std`'s. That the descriptor is such a socket is not checked.
        impl TryFrom<OwnedFd> for $name {
            type Error = io::Error;

            fn try_from(descriptor: OwnedFd) -> io::Result<$name> {
                $name::try_from(<$std>::from(descriptor))
            }
        }

        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.socket.inner().as_fd()
            }
        }

        impl AsRawFd for $name {
            fn as_raw_fd(&self) -> RawFd {
                self.socket.inner().as_raw_fd()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.socket.fmt(f)
            }
        }
    };
}

/// What can be read from and written to: how long single operations may wait, and whether they
/// would.
macro_rules! limits {
    ($name:ident) => {
        impl $name {
            /// Returns a case for a select that wins when the socket is ready for this.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            pub fn ready_case(&self, interest: Interest) -> ReadyCase<'_> {
                let socket = &self.socket;
                ReadyCase::new(socket.source(), socket.inner(), interest)
            }

            /// Limits how long each call that reads may wait; `None` for as long as it takes.
            ///
            /// # Errors
            /// Of kind `InvalidInput`: the limit is zero.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            pub fn set_read_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
                self.socket.set_read_timeout(limit)
            }

            /// Limits how long each call that writes may wait; `None` for as long as it takes.
            ///
            /// # Errors
            /// Of kind `InvalidInput`: the limit is zero.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            pub fn set_write_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
                self.socket.set_write_timeout(limit)
            }

            /// Returns how long each call that reads may wait.
            ///
            /// # Errors
            /// None.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            pub fn read_timeout(&self) -> io::Result<Option<Duration>> {
                Ok(self.socket.read_timeout())
            }

            /// Returns how long each call that writes may wait.
            ///
            /// # Errors
            /// None.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            pub fn write_timeout(&self) -> io::Result<Option<Duration>> {
                Ok(self.socket.write_timeout())
            }
        }
    };
}

/// `Read` and `Write` for a stream and for a reference to it; and whether a read takes all that
/// there is, as far as its buffer goes.
macro_rules! stream {
    ($name:ident, $all:literal) => {
        stream!(@for $name, $all);
        stream!(@for &$name, $all);
    };
    (@for $target:ty, $all:literal) => {
        /// Interruption points: see the [module](crate::net).
        impl Read for $target {
            #[track_caller]
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let len = buffer.len();
                self.socket
                    .read_some(len, $all, |mut inner| inner.read(buffer))
            }

            #[track_caller]
            fn read_vectored(&mut self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
                let len = total(buffers.iter().map(|buffer| buffer.len()));
                self.socket
                    .read_some(len, $all, |mut inner| inner.read_vectored(buffers))
            }
        }

        /// Interruption points: see the [module](crate::net). `flush` does nothing.
        impl Write for $target {
            #[track_caller]
            fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
                let len = buffer.len();
                self.socket.write_some(len, |mut inner| inner.write(buffer))
            }

            #[track_caller]
            fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
                let len = total(buffers.iter().map(|buffer| buffer.len()));
                self.socket
                    .write_some(len, |mut inner| inner.write_vectored(buffers))
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
    };
}

pub(super) use {handle, limits, stream};

//! State common to all sockets: the system's handle, its known readiness, and the limits of its
//! operations.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::panic::Location;
use std::sync::Arc;
#[cfg(feature = "futures")]
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::SockRef;

use crate::base::choice::Operation;
use crate::fiber::current;
use crate::readiness::{Interest, Source, timed_out};
use crate::shim::atomic::{AtomicU64, Ordering};
use crate::time::sleep;
use crate::wait::{Reason, Spec, begin, deadline_in, now};

/// A non-blocking socket.
pub(super) struct Socket<S> {
    /// Dropped first: the handle stays open until no driver has the source.
    source: Source,
    inner: S,
    read_limit: Limit,
    write_limit: Limit,
}

/// The limit on the wait of one operation, in nanoseconds; 0 means none. With [`NO_WAIT`] an
/// operation does not wait at all, and the limit is kept for later.
#[derive(Debug, Default)]
pub(super) struct Limit(AtomicU64);

/// The bit of a [`Limit`] that is set while the socket is non-blocking for its user. It shares the
/// word so that an operation reads one word only.
const NO_WAIT: u64 = 1 << 63;

impl Limit {
    /// Returns the limit of an operation: zero if it must not wait.
    fn of_operation(&self) -> Option<Duration> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            NO_WAIT.. => Some(Duration::ZERO),
            nanos => Some(Duration::from_nanos(nanos)),
        }
    }

    fn get(&self) -> Option<Duration> {
        match self.0.load(Ordering::Relaxed) & !NO_WAIT {
            0 => None,
            nanos => Some(Duration::from_nanos(nanos)),
        }
    }

    fn set_nonblocking(&self, yes: bool) {
        match yes {
            true => self.0.fetch_or(NO_WAIT, Ordering::Relaxed),
            false => self.0.fetch_and(!NO_WAIT, Ordering::Relaxed),
        };
    }

    /// # Errors
    /// Kind `InvalidInput`: the limit is zero.
    fn set(&self, limit: Option<Duration>) -> io::Result<()> {
        if limit == Some(Duration::ZERO) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a time limit of zero; None is none",
            ));
        }
        let nanos = |limit: Duration| limit.as_nanos().min(u128::from(!NO_WAIT)) as u64;
        let nanos = limit.map_or(0, nanos);
        let set = |word| Some(word & NO_WAIT | nanos);
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, set);
        Ok(())
    }
}

impl<S: AsRawFd> Socket<S> {
    /// Wraps a handle that has been set to non-blocking.
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

    /// Returns the handle if this is the only reference to the socket.
    pub(super) fn into_inner(socket: Arc<Self>) -> Result<S, Arc<Self>> {
        let Socket { source, inner, .. } = Arc::try_unwrap(socket)?;
        drop(source);
        Ok(inner)
    }

    /// Calls `attempt` as soon as it need not wait for input.
    #[inline]
    #[track_caller]
    pub(super) fn read_by<R>(
        &self,
        mut attempt: impl FnMut(&S) -> io::Result<R>,
        emptied: impl Fn(&R) -> bool,
    ) -> io::Result<R> {
        let raw = self.inner.as_raw_fd();
        let limit = self.read_limit.of_operation();
        let attempt = || attempt(&self.inner);
        self.source
            .operate(raw, Interest::Readable, limit, attempt, emptied)
    }

    /// Like [`read_by`](Self::read_by), for operations that wait for buffer space.
    #[inline]
    #[track_caller]
    pub(super) fn write_by<R>(
        &self,
        mut attempt: impl FnMut(&S) -> io::Result<R>,
        filled: impl Fn(&R) -> bool,
    ) -> io::Result<R> {
        let raw = self.inner.as_raw_fd();
        let limit = self.write_limit.of_operation();
        let attempt = || attempt(&self.inner);
        self.source
            .operate(raw, Interest::Writable, limit, attempt, filled)
    }

    /// Like [`write_by`](Self::write_by), where the system does not report that an operation can
    /// succeed: it is attempted again after pauses of up to `most`, which is not zero.
    #[track_caller]
    pub(super) fn write_after_pauses<R>(
        &self,
        most: Duration,
        mut attempt: impl FnMut(&S) -> io::Result<R>,
    ) -> io::Result<R> {
        if current::local().time_is_virtual() {
            // Pauses would let it pass. A failed attempt makes an event, so the wait ends.
            return self.write_by(attempt, |_| false);
        }
        let raw = self.inner.as_raw_fd();
        let limit = self.write_limit.of_operation();
        let (full, now_or_never) = (io::ErrorKind::WouldBlock, Some(Duration::ZERO));
        let (mut pause, mut deadline) = (most / 64, None);
        loop {
            let attempt = || attempt(&self.inner);
            let done = self.source.operate(
                raw,
                Interest::Writable,
                now_or_never,
                attempt,
                |_| false,
            );
            match done {
                Err(error) if error.kind() == full && limit != now_or_never => {}
                done => return done,
            }
            deadline = deadline.or_else(|| limit.and_then(deadline_in));
            let left = deadline.map_or(most, |end| end.saturating_duration_since(now()));
            if left.is_zero() {
                return Err(timed_out());
            }
            sleep(left.min(pause))?;
            pause = most.min(2 * pause);
        }
    }

    /// Reads into a buffer of `len` bytes. If a read takes `all` available data, a shorter result
    /// means that no more was there.
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

    /// Writes from a buffer of `len` bytes. A shorter result means that the system's buffer is
    /// full. A write of nothing does not wait: the system has room for it.
    #[inline]
    #[track_caller]
    pub(super) fn write_some(
        &self,
        len: usize,
        mut attempt: impl FnMut(&S) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if len == 0 {
            begin(Operation::Io, 0)?;
            // An error is that of the wait, too: the socket may not be connected yet.
            if let Ok(n) = attempt(&self.inner) {
                return Ok(n);
            }
        }
        self.write_by(attempt, |&n| n < len)
    }

    /// Like [`read_some`](Self::read_some), for a future.
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

    /// Like [`write_some`](Self::write_some), for a future.
    #[cfg(feature = "futures")]
    #[inline]
    pub(super) fn poll_write(
        &self,
        context: &mut Context<'_>,
        len: usize,
        mut attempt: impl FnMut(&S) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        if len == 0
            && let Ok(n) = attempt(&self.inner)
        {
            return Poll::Ready(Ok(n));
        }
        let raw = self.inner.as_raw_fd();
        let attempt = || attempt(&self.inner);
        self.source
            .poll(raw, Interest::Writable, context, attempt, |&n| n < len)
    }

    /// Waits until a connection attempt has succeeded, which `is_there` checks, or failed. Reports
    /// name the line `at`.
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

    pub(super) fn set_nonblocking(&self, yes: bool) {
        self.read_limit.set_nonblocking(yes);
        self.write_limit.set_nonblocking(yes);
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

/// Returns the total length of the buffers that the system takes in one call.
pub(super) fn total(lengths: impl Iterator<Item = usize>) -> usize {
    lengths.take(MOST_BUFFERS).fold(0, usize::saturating_add)
}

/// The largest number of buffers of one call on Linux and elsewhere (`IOV_MAX`). A result shorter
/// because of this bound does not mean that the system's buffer is full.
const MOST_BUFFERS: usize = 1_024;

/// Implements the traits that convert between our handle of a socket and the system's.
///
/// `$name` has one field, `socket`, an `Arc<Socket<$std>>`. `$open` has the first lines of the
/// examples, which open a `socket`.
macro_rules! handle {
    ($name:ident, $std:ty, $open:literal) => {
        impl $name {
            /// Returns another handle to the same socket, without a system call.
            ///
            /// # Errors
            /// None.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            ///
            /// # Examples
            /// ```
            #[doc = $open]
            /// let other = socket.try_clone()?;
            /// let socket = socket.into_std().expect_err("there is another handle");
            /// drop(other);
            /// assert!(socket.into_std().is_ok());
            /// # Ok::<(), std::io::Error>(())
            /// ```
            #[doc(alias = "into_split")]
            #[doc(alias = "split")]
            pub fn try_clone(&self) -> io::Result<$name> {
                Ok($name {
                    socket: Arc::clone(&self.socket),
                })
            }

            /// Returns the socket as `std`'s type, in blocking mode. It has no time limits; set
            /// them again. Its `into_raw_fd` returns the descriptor.
            ///
            /// # Errors
            /// The handle itself, if the socket has other handles.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            ///
            /// # Examples
            /// ```
            #[doc = $open]
            /// let socket = socket.into_std().expect("the only handle");
            /// assert!(socket.take_error()?.is_none());
            /// # Ok::<(), std::io::Error>(())
            /// ```
            pub fn into_std(self) -> Result<$std, $name> {
                let inner =
                    Socket::into_inner(self.socket).map_err(|socket| $name { socket })?;
                // It cannot fail on an open socket.
                let _ = inner.set_nonblocking(false);
                Ok(inner)
            }

            /// Sets whether a call that would have to wait fails with kind `WouldBlock` instead,
            /// for all handles to the socket. The [module](crate::net) has the details.
            ///
            /// # Errors
            /// None.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            ///
            /// # Examples
            /// ```
            #[doc = $open]
            /// socket.set_nonblocking(true)?;
            /// socket.set_nonblocking(false)?;
            /// # Ok::<(), std::io::Error>(())
            /// ```
            #[doc(alias = "O_NONBLOCK")]
            #[doc(alias = "FIONBIO")]
            #[doc(alias = "try_read")]
            #[doc(alias = "try_io")]
            pub fn set_nonblocking(&self, yes: bool) -> io::Result<()> {
                self.socket.set_nonblocking(yes);
                Ok(())
            }

            /// Returns and clears the error that the system keeps for this socket.
            ///
            /// # Errors
            /// Returns the operating system's error.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            ///
            /// # Examples
            /// ```
            #[doc = $open]
            /// assert!(socket.take_error()?.is_none());
            /// # Ok::<(), std::io::Error>(())
            /// ```
            #[doc(alias = "SO_ERROR")]
            pub fn take_error(&self) -> io::Result<Option<io::Error>> {
                self.socket.inner().take_error()
            }
        }

        /// Fails with the operating system's error, or if there are too many sockets. Other handles
        /// of `std` to this socket, made by its `try_clone`, become non-blocking too. Limits that
        /// were set there do not apply here, nor does its non-blocking mode; set them again.
        impl TryFrom<$std> for $name {
            type Error = io::Error;

            fn try_from(inner: $std) -> io::Result<$name> {
                inner.set_nonblocking(true)?;
                Ok($name {
                    socket: Socket::new(inner)?,
                })
            }
        }

        /// Like the conversion from `std`'s type. The kind of the descriptor is not checked. It
        /// stands for `FromRawFd` too; the [module](crate::net) has an example.
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

/// Implements read and write timeouts, and the readiness case. `$open` is as in `handle`.
macro_rules! limits {
    ($name:ident, $open:literal) => {
        impl $name {
            /// Returns a case for a select that wins when the socket is ready for `interest`.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            ///
            /// # Examples
            /// ```
            #[doc = $open]
            /// let interest = pirn::net::Interest::Writable;
            /// pirn::select! {
            ///     case(socket.ready_case(interest)) -> _ => {},
            ///     cancelled(interrupt) => panic!("{interrupt}"),
            /// }
            /// # Ok::<(), std::io::Error>(())
            /// ```
            #[doc(alias = "readable")]
            #[doc(alias = "writable")]
            pub fn ready_case(&self, interest: Interest) -> ReadyCase<'_> {
                let socket = &self.socket;
                ReadyCase::new(socket.source(), socket.inner(), interest)
            }

            /// Sets a limit on the wait of each read call; `None` removes the limit. The
            /// [module](crate::net) has the details.
            ///
            /// # Errors
            /// Kind `InvalidInput`: the limit is zero.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            ///
            /// # Examples
            /// ```
            #[doc = $open]
            /// let limit = std::time::Duration::from_millis(1);
            /// socket.set_read_timeout(Some(limit))?;
            /// assert_eq!(socket.read_timeout()?, Some(limit));
            /// assert!(socket.set_read_timeout(Some(std::time::Duration::ZERO)).is_err());
            /// # Ok::<(), std::io::Error>(())
            /// ```
            #[doc(alias = "SetReadDeadline")]
            #[doc(alias = "SO_RCVTIMEO")]
            pub fn set_read_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
                self.socket.set_read_timeout(limit)
            }

            /// Sets a limit on the wait of each write call; `None` removes the limit. The
            /// [module](crate::net) has the details.
            ///
            /// # Errors
            /// Kind `InvalidInput`: the limit is zero.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            ///
            /// # Examples
            /// ```
            #[doc = $open]
            /// let limit = std::time::Duration::from_secs(5);
            /// socket.set_write_timeout(Some(limit))?;
            /// assert_eq!(socket.write_timeout()?, Some(limit));
            /// # Ok::<(), std::io::Error>(())
            /// ```
            #[doc(alias = "SetWriteDeadline")]
            #[doc(alias = "SO_SNDTIMEO")]
            pub fn set_write_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
                self.socket.set_write_timeout(limit)
            }

            /// Returns the limit on the wait of each read call; `None` if there is none.
            ///
            /// # Errors
            /// None.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            ///
            /// # Examples
            /// ```
            #[doc = $open]
            /// assert_eq!(socket.read_timeout()?, None);
            /// # Ok::<(), std::io::Error>(())
            /// ```
            pub fn read_timeout(&self) -> io::Result<Option<Duration>> {
                Ok(self.socket.read_timeout())
            }

            /// Returns the limit on the wait of each write call; `None` if there is none.
            ///
            /// # Errors
            /// None.
            ///
            /// # Cancellation
            /// Not an interruption point; never suspends.
            ///
            /// # Examples
            /// ```
            #[doc = $open]
            /// assert_eq!(socket.write_timeout()?, None);
            /// # Ok::<(), std::io::Error>(())
            /// ```
            pub fn write_timeout(&self) -> io::Result<Option<Duration>> {
                Ok(self.socket.write_timeout())
            }
        }
    };
}

/// Implements `Read` and `Write` for a stream and for a reference to it. `$all`: true if a read
/// takes all available data that fits in its buffer.
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

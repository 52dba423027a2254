//! Cases of a select: readiness of a socket, and an incoming connection.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::pin::Pin;

use pin_project_lite::pin_project;

use crate::readiness::{Interest, Source, Watching};
use crate::sys::{is_readable, is_writable};
use crate::wait::case_output::CaseOutput;
use crate::wait::choice::{Call, Case, Needs, Outcome};
use crate::wait::wait_info::Subject;

pin_project! {
    /// A case of a select that wins when a socket can be read or written without waiting; made by
    /// [`TcpStream::ready_case`](super::TcpStream::ready_case) and the like. It transfers nothing.
    ///
    /// A socket that the other end has closed is ready, and so is one with an error. Another fiber
    /// or thread may take the data before the caller reads it.
    ///
    /// # Examples
    /// ```
    /// use std::io::{Read, Write};
    ///
    /// use pirn::net::{Interest, UnixStream};
    ///
    /// let (mut one, mut other) = UnixStream::pair()?;
    /// one.write_all(b"ping")?;
    /// pirn::select! {
    ///     case(other.ready_case(Interest::Readable)) -> _ => {},
    ///     cancelled(interrupt) => panic!("{interrupt}"),
    /// }
    /// assert_eq!(other.read(&mut [0; 16])?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub struct ReadyCase<'a> {
        #[pin]
        watching: Watching<'a>,
        handle: BorrowedFd<'a>,
        // Set if the socket cannot be watched; the next operation returns the error.
        broken: Cell<bool>,
    }
}

pin_project! {
    /// A case of a select that accepts a connection; made by
    /// [`TcpListener::accept_case`](super::TcpListener::accept_case) and
    /// [`UnixListener::accept_case`](super::UnixListener::accept_case).
    ///
    /// A connection that was won and not taken is kept: the case wins again with it the next time.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{TcpListener, TcpStream};
    /// use pirn::select::Select;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let client = TcpStream::connect(listener.local_addr()?)?;
    /// let mut accept = listener.accept_case();
    /// let mut select = Select::new();
    /// select.add(&mut accept);
    /// assert_eq!(select.wait(), Ok(0));
    /// assert_eq!(accept.take()?.1, client.local_addr()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub struct AcceptCase<'a, L: Accept> {
        listener: &'a L,
        #[pin]
        watching: Watching<'a>,
        output: CaseOutput<io::Result<L::Accepted>>,
    }
}

/// A listener.
#[expect(unnameable_types, reason = "sealed")]
pub trait Accept {
    /// The result of accepting.
    type Accepted;

    /// Accepts a queued connection without waiting.
    #[doc(hidden)]
    fn accept_now(&self) -> io::Result<Self::Accepted>;
}

impl<'a> ReadyCase<'a> {
    pub(super) fn new(
        source: &'a Source,
        handle: &'a impl AsFd,
        interest: Interest,
    ) -> Self {
        let handle = handle.as_fd();
        ReadyCase {
            watching: Watching::new(source, handle.as_raw_fd(), interest),
            handle,
            broken: Cell::new(false),
        }
    }

    /// Returns at once, since there is nothing to take. [`select!`](crate::select!) calls it.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{Interest, UnixStream};
    /// use pirn::select::Select;
    ///
    /// let (one, _other) = UnixStream::pair()?;
    /// let mut writable = one.ready_case(Interest::Writable);
    /// let mut select = Select::new();
    /// select.add(&mut writable);
    /// assert_eq!(select.wait(), Ok(0));
    /// writable.take();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn take(&mut self) {}

    /// # Errors
    /// `WouldBlock`: it is not ready; or the system's error.
    fn ask(&self) -> io::Result<()> {
        let is_ready = match self.watching.interest() {
            Interest::Readable => is_readable(self.handle),
            Interest::Writable => is_writable(self.handle),
        };
        match is_ready? {
            true => Ok(()),
            false => Err(io::Error::from(io::ErrorKind::WouldBlock)),
        }
    }
}

impl<'a, L: Accept + AsRawFd> AcceptCase<'a, L> {
    pub(super) fn new(source: &'a Source, listener: &'a L) -> Self {
        AcceptCase {
            listener,
            watching: Watching::new(source, listener.as_raw_fd(), Interest::Readable),
            output: CaseOutput::new(),
        }
    }

    /// Returns the connection and the peer's address.
    ///
    /// # Errors
    /// As for [`TcpListener::accept`](super::TcpListener::accept).
    ///
    /// # Panics
    /// If the case has not won since the last call.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{TcpListener, TcpStream};
    /// use pirn::select::Select;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let client = TcpStream::connect(listener.local_addr()?)?;
    /// let mut accept = listener.accept_case();
    /// let mut select = Select::new();
    /// select.add(&mut accept);
    /// assert_eq!(select.wait(), Ok(0));
    /// let (_stream, from) = accept.take()?;
    /// assert_eq!(from, client.local_addr()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn take(&mut self) -> io::Result<L::Accepted> {
        self.output.take()
    }
}

impl Case for ReadyCase<'_> {
    fn attempt(&self) -> bool {
        // Once: a later wait may find room in the system.
        self.broken.replace(false) || self.watching.attempt(|| self.ask()).is_some()
    }

    fn attempt_anew(&self) -> bool {
        self.watching.attempt_anew(|| self.ask()).is_some()
    }

    fn needs(&self) -> Needs {
        Needs::Events
    }

    fn subject(&self) -> Option<Subject<'_>> {
        Some(self.watching.subject())
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        let published = self.project_ref().watching.publish(call);
        self.broken.set(published.is_err());
        published.unwrap_or(false)
    }

    fn withdraw(self: Pin<&Self>, _: Call, _: Outcome) {
        self.project_ref().watching.withdraw();
    }
}

impl<L: Accept> Case for AcceptCase<'_, L> {
    fn attempt(&self) -> bool {
        let accept = || self.listener.accept_now();
        self.output.win_by(|| self.watching.attempt(accept))
    }

    fn attempt_anew(&self) -> bool {
        let accept = || self.listener.accept_now();
        self.output.win_by(|| self.watching.attempt_anew(accept))
    }

    fn needs(&self) -> Needs {
        Needs::Events
    }

    fn subject(&self) -> Option<Subject<'_>> {
        Some(self.watching.subject())
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        match self.project_ref().watching.publish(call) {
            Ok(published) => published,
            Err(error) => {
                self.output.win(Err(error));
                false
            }
        }
    }

    fn withdraw(self: Pin<&Self>, _: Call, _: Outcome) {
        self.project_ref().watching.withdraw();
    }
}

impl fmt::Debug for ReadyCase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadyCase").finish_non_exhaustive()
    }
}

impl<L: Accept> fmt::Debug for AcceptCase<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcceptCase").finish_non_exhaustive()
    }
}

//! Iterators over incoming connections.

use std::io;
use std::iter::FusedIterator;
use std::os::fd::AsFd as _;

use super::accepting::Accepting;
use super::{TcpListener, TcpStream, UnixListener, UnixStream};

/// An iterator over the connections that a [`TcpListener`] accepts; made by
/// [`TcpListener::incoming`].
///
/// # Examples
/// ```
/// use pirn::cancel::Token;
/// use pirn::net::{TcpListener, TcpStream};
///
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let _client = TcpStream::connect(listener.local_addr()?)?;
/// let mut incoming = listener.incoming();
/// assert!(incoming.next().unwrap().is_ok());
///
/// let stop = Token::new();
/// stop.cancel();
/// stop.enter(|| {
///     assert!(incoming.next().unwrap().is_err()); // the interrupt
///     assert!(incoming.next().is_none());
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Incoming<'a> {
    listener: &'a TcpListener,
    accepting: Accepting,
}

/// An iterator over the connections that a [`UnixListener`] accepts; made by
/// [`UnixListener::incoming`].
///
/// # Examples
/// ```
/// use pirn::net::{UnixListener, UnixStream};
///
/// let name = format!("pirn-doc-unix-incoming-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// let listener = UnixListener::bind(&path)?;
/// let _client = UnixStream::connect(&path)?;
/// assert!(listener.incoming().next().unwrap().is_ok());
/// pirn::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct UnixIncoming<'a> {
    listener: &'a UnixListener,
    accepting: Accepting,
}

impl TcpListener {
    /// Returns an iterator over incoming connections, without end.
    ///
    /// Skips connections that ended before they could be accepted, and other errors of one
    /// connection ([`accept`](Self::accept) lists them). While descriptors or memory are exhausted,
    /// the iterator waits and tries 200 times a second, less often if many listeners wait. An
    /// interrupt is yielded once, as an error, and ends the iterator.
    ///
    /// # Errors
    /// Only errors that concern the listener are yielded. A loop that continues after one should
    /// pause first, since such an error usually persists.
    ///
    /// # Cancellation
    /// Each step is an interruption point.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let client = TcpStream::connect(listener.local_addr()?)?;
    /// for stream in listener.incoming().take(1) {
    ///     assert_eq!(stream?.peer_addr()?, client.local_addr()?);
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "TcpListenerStream")]
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming {
            listener: self,
            accepting: Accepting::default(),
        }
    }
}

impl<'a> IntoIterator for &'a TcpListener {
    type Item = io::Result<TcpStream>;
    type IntoIter = Incoming<'a>;

    fn into_iter(self) -> Incoming<'a> {
        self.incoming()
    }
}

/// An interruption point; the iterator ends after it has yielded an interrupt.
impl Iterator for Incoming<'_> {
    type Item = io::Result<TcpStream>;

    #[track_caller]
    fn next(&mut self) -> Option<io::Result<TcpStream>> {
        // Not in a closure, which would lose the caller's line.
        while !self.accepting.is_over() {
            let accepted = self.listener.accept();
            if let Some(next) = self.accepting.judge(accepted, self.listener.as_fd()) {
                return Some(next.map(|(stream, _)| stream));
            }
        }
        None
    }
}

/// After its end it stays at its end.
impl FusedIterator for Incoming<'_> {}

impl UnixListener {
    /// Returns an iterator over incoming connections, like
    /// [`TcpListener::incoming`](super::TcpListener::incoming).
    ///
    /// # Errors
    /// As for [`TcpListener::incoming`](super::TcpListener::incoming).
    ///
    /// # Cancellation
    /// Each step is an interruption point.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{UnixListener, UnixStream};
    ///
    /// let name = format!("pirn-doc-incoming-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let listener = UnixListener::bind(&path)?;
    /// let _client = UnixStream::connect(&path)?;
    /// for stream in listener.incoming().take(1) {
    ///     assert!(stream?.peer_addr()?.is_unnamed());
    /// }
    /// pirn::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "UnixListenerStream")]
    pub fn incoming(&self) -> UnixIncoming<'_> {
        UnixIncoming {
            listener: self,
            accepting: Accepting::default(),
        }
    }
}

impl<'a> IntoIterator for &'a UnixListener {
    type Item = io::Result<UnixStream>;
    type IntoIter = UnixIncoming<'a>;

    fn into_iter(self) -> UnixIncoming<'a> {
        self.incoming()
    }
}

/// An interruption point; the iterator ends after it has yielded an interrupt.
impl Iterator for UnixIncoming<'_> {
    type Item = io::Result<UnixStream>;

    #[track_caller]
    fn next(&mut self) -> Option<io::Result<UnixStream>> {
        // Not in a closure, which would lose the caller's line.
        while !self.accepting.is_over() {
            let accepted = self.listener.accept();
            if let Some(next) = self.accepting.judge(accepted, self.listener.as_fd()) {
                return Some(next.map(|(stream, _)| stream));
            }
        }
        None
    }
}

/// After its end it stays at its end.
impl FusedIterator for UnixIncoming<'_> {}

//! Iterators over incoming connections.

use std::io;
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

impl<'a> Incoming<'a> {
    pub(super) fn new(listener: &'a TcpListener) -> Incoming<'a> {
        Incoming {
            listener,
            accepting: Accepting::default(),
        }
    }
}

impl<'a> UnixIncoming<'a> {
    pub(super) fn new(listener: &'a UnixListener) -> UnixIncoming<'a> {
        UnixIncoming {
            listener,
            accepting: Accepting::default(),
        }
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

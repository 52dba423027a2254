//! Iterators over incoming connections.

use std::io;

use super::accepting::Accepting;
use super::{TcpListener, TcpStream, UnixListener, UnixStream};

/// The connections that a [`TcpListener`] accepts; made by [`TcpListener::incoming`].
#[derive(Debug)]
pub struct Incoming<'a> {
    listener: &'a TcpListener,
    accepting: Accepting,
}

/// The connections that a [`UnixListener`] accepts; made by [`UnixListener::incoming`].
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

/// An interruption point, that ends after it has yielded an interrupt.
impl Iterator for Incoming<'_> {
    type Item = io::Result<TcpStream>;

    #[track_caller]
    fn next(&mut self) -> Option<io::Result<TcpStream>> {
        let accept = || self.listener.accept().map(|(stream, _)| stream);
        self.accepting.next(accept)
    }
}

/// An interruption point, that ends after it has yielded an interrupt.
impl Iterator for UnixIncoming<'_> {
    type Item = io::Result<UnixStream>;

    #[track_caller]
    fn next(&mut self) -> Option<io::Result<UnixStream>> {
        let accept = || self.listener.accept().map(|(stream, _)| stream);
        self.accepting.next(accept)
    }
}

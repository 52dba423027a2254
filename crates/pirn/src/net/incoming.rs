//! Iterators over incoming connections.

use std::io;
use std::os::fd::AsFd as _;

use super::accepting::Accepting;
use super::{TcpListener, TcpStream, UnixListener, UnixStream};

/// Iterator over the connections that a [`TcpListener`] accepts; made by
/// [`TcpListener::incoming`].
#[derive(Debug)]
pub struct Incoming<'a> {
    listener: &'a TcpListener,
    accepting: Accepting,
}

/// Iterator over the connections that a [`UnixListener`] accepts; made by
/// [`UnixListener::incoming`].
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

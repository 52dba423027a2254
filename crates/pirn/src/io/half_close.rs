//! [`HalfClose`]: to say that one will write nothing more, and go on reading.

use std::io;
use std::net::Shutdown;
use std::sync::Arc;

use crate::net::{TcpStream, UnixStream};

/// Something with two directions, of which the one that is written to can be ended alone. What
/// [`copy_bidirectional`](super::copy_bidirectional) does when the other side has ended.
pub trait HalfClose {
    /// Says that nothing more will be written: who reads at the other end comes to the end.
    /// That the other end has gone by then is no error.
    ///
    /// # Errors
    /// Returns the operating system's error.
    fn half_close(&self) -> io::Result<()>;
}

impl HalfClose for TcpStream {
    fn half_close(&self) -> io::Result<()> {
        unless_gone(self.shutdown(Shutdown::Write))
    }
}

impl HalfClose for UnixStream {
    fn half_close(&self) -> io::Result<()> {
        unless_gone(self.shutdown(Shutdown::Write))
    }
}

impl<T: HalfClose + ?Sized> HalfClose for &T {
    fn half_close(&self) -> io::Result<()> {
        (**self).half_close()
    }
}

impl<T: HalfClose + ?Sized> HalfClose for Arc<T> {
    fn half_close(&self) -> io::Result<()> {
        (**self).half_close()
    }
}

fn unless_gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
        result => result,
    }
}

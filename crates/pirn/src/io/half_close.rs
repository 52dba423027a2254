//! [`HalfClose`]: closing the direction for writing alone.

use std::io;
use std::net::Shutdown;
use std::sync::Arc;

use crate::net::{TcpStream, UnixStream};

/// A stream that can close its direction for writing alone.
/// [`copy_bidirectional`](super::copy_bidirectional) does that when the other side has ended.
///
/// # Examples
/// ```
/// use std::io::{Read, Write};
///
/// use pirn::io::HalfClose;
/// use pirn::net::UnixStream;
///
/// fn ask(mut stream: &UnixStream) -> std::io::Result<()> {
///     stream.write_all(b"a question")?;
///     stream.half_close()
/// }
///
/// let (client, mut server) = UnixStream::pair()?;
/// ask(&client)?;
/// let mut question = String::new();
/// server.read_to_string(&mut question)?;
/// assert_eq!(question, "a question");
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait HalfClose {
    /// Closes the direction for writing: a reader at the other end sees the end of the stream. It
    /// is no error if the other end is already closed.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::io::Read;
    ///
    /// use pirn::io::HalfClose;
    /// use pirn::net::UnixStream;
    ///
    /// let (one, mut other) = UnixStream::pair()?;
    /// one.half_close()?;
    /// assert_eq!(other.read(&mut [0; 8])?, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "CloseWrite")]
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

//! The interfaces that hyper needs from a runtime: an executor, a clock, and byte streams.
//!
//! The streams of [`net`](crate::net) implement hyper's `Read` and `Write` themselves.
//!
//! A connection is a future that a fiber [waits](super::wait()) for:
//!
//! ```
//! use std::convert::Infallible;
//! use std::io::{Read, Write};
//!
//! use hyper::service::service_fn;
//! use hyper::{Response, server::conn::http1};
//! use pirn::future::{hyper::Timer, wait};
//! use pirn::net::{TcpListener, TcpStream};
//!
//! # fn main() -> std::io::Result<()> {
//! pirn::run(|| {
//!     let listener = TcpListener::bind("127.0.0.1:0")?;
//!     let address = listener.local_addr()?;
//!     let server = pirn::spawn(move || {
//!         let (stream, _) = listener.accept()?;
//!         let hello = service_fn(|_| async {
//!             Ok::<_, Infallible>(Response::new("hello".to_owned()))
//!         });
//!         let connection = http1::Builder::new().timer(Timer).serve_connection(stream, hello);
//!         Ok::<_, std::io::Error>(wait(connection)?)
//!     });
//!     let mut client = TcpStream::connect(address)?;
//!     client.write_all(b"GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n")?;
//!     let mut answer = String::new();
//!     client.read_to_string(&mut answer)?;
//!     assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("hello"));
//!     assert!(server.join().unwrap()?.is_ok());
//!     Ok(())
//! })
//! # }
//! ```

// Owns: adapters from hyper's traits to fibers, `sleep` and `futures-io`, and all access to the
// memory of hyper's buffers. Does not own: hyper, nor the streams of `net`.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use futures_io::{AsyncRead, AsyncWrite};
use hyper::rt;

use super::sleep::{self, Sleep};
use super::wait;
use crate::{spawn, time};

/// An executor that runs each of hyper's tasks on its own fiber, on the runtime that
/// [`spawn`](crate::spawn()) would use.
///
/// A task ends early if its fiber is interrupted, for instance at the end of its runtime.
///
/// The tasks of a pooled client end when the last clone of the client has been dropped, or when their
/// connections expire; the drop of a runtime waits for them. So drop the client before.
///
/// # Panics
/// `execute`: like [`spawn`](crate::spawn()).
///
/// # Examples
/// ```
/// use hyper::rt::Executor as _;
/// use pirn::channel;
/// use pirn::future::hyper::Executor;
///
/// let (tx, rx) = channel::bounded(1);
/// Executor.execute(async move { tx.send_async(42).await.is_ok() });
/// assert_eq!(rx.recv(), Ok(42));
/// ```
#[doc(alias = "TokioExecutor")]
#[derive(Debug, Copy, Clone, Default)]
pub struct Executor;

impl<F> rt::Executor<F> for Executor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    #[track_caller]
    fn execute(&self, task: F) {
        drop(spawn(|| drop(wait(task))));
    }
}

/// A timer that drives hyper's time limits by pirn's clock; see [`sleep`](super::sleep()).
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use hyper::rt::Timer as _;
/// use pirn::future::{block_on, hyper::Timer};
///
/// let before = Timer.now();
/// block_on(Timer.sleep(Duration::from_millis(1)));
/// assert!(Timer.now() - before >= Duration::from_millis(1));
/// ```
#[doc(alias = "TokioTimer")]
#[derive(Debug, Copy, Clone, Default)]
pub struct Timer;

impl rt::Timer for Timer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn rt::Sleep>> {
        Box::pin(sleep::sleep(duration))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn rt::Sleep>> {
        Box::pin(sleep::sleep_until(deadline))
    }

    fn now(&self) -> Instant {
        time::now()
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn rt::Sleep>>, deadline: Instant) {
        match sleep.as_mut().downcast_mut_pin::<Sleep>() {
            Some(known) => known.get_mut().reset(deadline),
            None => *sleep = self.sleep_until(deadline),
        }
    }
}

impl rt::Sleep for Sleep {}

/// An adapter for a stream of `futures-io`, for instance a TLS session, with the traits of hyper.
/// The streams of [`net`](crate::net) do not need it.
///
/// # Examples
/// ```
/// use futures_util::io::Cursor;
/// use pirn::future::hyper::Io;
///
/// let io: Io<Cursor<Vec<u8>>> = Io::new(Cursor::new(vec![1, 2]));
/// fn suits_hyper(_: &impl hyper::rt::Read) {}
/// suits_hyper(&io);
/// assert_eq!(io.get_ref().position(), 0);
/// ```
#[doc(alias = "TokioIo")]
#[derive(Debug, Default, Clone)]
pub struct Io<S>(S);

impl<S> Io<S> {
    /// Returns an adapter that owns `stream`.
    ///
    /// # Examples
    /// ```
    /// use futures_util::io::Cursor;
    /// use pirn::future::hyper::Io;
    ///
    /// let io = Io::new(Cursor::new(vec![1_u8, 2]));
    /// assert_eq!(io.get_ref().get_ref().len(), 2);
    /// ```
    pub fn new(stream: S) -> Io<S> {
        Io(stream)
    }

    /// Returns a reference to the stream.
    ///
    /// # Examples
    /// ```
    /// use futures_util::io::Cursor;
    /// use pirn::future::hyper::Io;
    ///
    /// let io = Io::new(Cursor::new(vec![1_u8, 2]));
    /// assert_eq!(io.get_ref().position(), 0);
    /// ```
    pub fn get_ref(&self) -> &S {
        &self.0
    }

    /// Returns a mutable reference to the stream.
    ///
    /// # Examples
    /// ```
    /// use futures_util::io::Cursor;
    /// use pirn::future::hyper::Io;
    ///
    /// let mut io = Io::new(Cursor::new(vec![1_u8, 2]));
    /// io.get_mut().set_position(1);
    /// assert_eq!(io.get_ref().position(), 1);
    /// ```
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.0
    }

    /// Consumes the adapter and returns the stream.
    ///
    /// # Examples
    /// ```
    /// use futures_util::io::Cursor;
    /// use pirn::future::hyper::Io;
    ///
    /// let io = Io::new(Cursor::new(vec![1_u8, 2]));
    /// assert_eq!(io.into_inner().into_inner(), [1, 2]);
    /// ```
    pub fn into_inner(self) -> S {
        self.0
    }
}

impl<S: AsyncRead + Unpin> rt::Read for Io<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let free = buffer.initialize_unfilled();
        let room = free.len();
        let n = ready!(Pin::new(&mut self.0).poll_read(context, free))?;
        assert!(n <= room, "a stream has read {n} bytes into {room}");
        // SAFETY: all remaining capacity has been initialized above.
        unsafe { buffer.advance(n) };
        Poll::Ready(Ok(()))
    }
}

/// Receives bytes into the free part of `buffer`, which need not be initialized. Returns their
/// number.
///
/// # Errors
/// As `recv` of the system.
#[cfg(unix)]
pub(crate) fn receive(
    socket: &socket2::Socket,
    buffer: &mut rt::ReadBufCursor<'_>,
) -> io::Result<usize> {
    // SAFETY: `free` is only ever written to.
    let free = unsafe { buffer.as_mut() };
    let n = socket.recv(free)?;
    // SAFETY: the system has filled the first `n` bytes.
    unsafe { buffer.advance(n) };
    Ok(n)
}

impl<S: AsyncWrite + Unpin> rt::Write for Io<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, buffer)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(context, buffers)
    }
}

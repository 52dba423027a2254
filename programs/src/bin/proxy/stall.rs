//! The time limit of a client that reads its answers slowly.
//!
//! hyper buffers some 400 KiB of an answer, and writes them when the socket accepts bytes. So the
//! socket shows whether the client reads: [`Watched`] records since when it has accepted none, and
//! [`keep`] looks at that. The socket's own buffer is bounded, since the system reports that there is
//! room only when a third of it is free.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Read, ReadBufCursor, Write};
use pirn::Interrupt;
use pirn::future::wait;
use pirn::net::TcpStream;
use pirn::time;
use rustix::net::sockopt::set_socket_send_buffer_size;

/// The bytes that the system buffers for a client. Linux doubles it, after a limit of its own.
/// Arbitrary.
const BUFFER: usize = 256 << 10;

/// Since when a socket has accepted no bytes. The fiber of the connection alone uses it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stalled(Rc<Cell<Option<Instant>>>);

/// The stream of a client, which records when it accepts bytes.
#[derive(Debug)]
pub(crate) struct Watched {
    stream: TcpStream,
    stalled: Stalled,
}

/// Waits for the end of a connection; returns `None` if its client has read nothing for the time
/// `limit`, or up to twice that.
pub(crate) fn keep<C: Future>(
    mut connection: Pin<&mut C>,
    stalled: &Stalled,
    limit: Duration,
) -> Result<Option<C::Output>, Interrupt> {
    loop {
        match pirn::timeout(limit, || wait(connection.as_mut())) {
            Ok(ended) => return ended.map(Some),
            Err(_) if stalled.is_for(limit) => return Ok(None),
            Err(_) => {}
        }
    }
}

impl Stalled {
    fn is_for(&self, limit: Duration) -> bool {
        let since = self.0.get();
        since.is_some_and(|since| time::now().saturating_duration_since(since) >= limit)
    }

    /// Records the result of a write.
    fn record(&self, written: &Poll<io::Result<usize>>) {
        let since = match written {
            Poll::Pending => self.0.get().or_else(|| Some(time::now())),
            Poll::Ready(_) => None,
        };
        self.0.set(since);
    }
}

impl Watched {
    /// # Errors
    /// If the size of the socket's buffer cannot be set.
    pub(crate) fn new(stream: TcpStream, stalled: Stalled) -> io::Result<Watched> {
        set_socket_send_buffer_size(&stream, BUFFER)?;
        Ok(Watched { stream, stalled })
    }
}

impl Read for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.stalled.record(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.stalled.record(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

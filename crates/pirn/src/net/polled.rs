//! Streams for futures: the traits of `futures-io`, and those of hyper.
//!
//! An operation that would have to wait registers its task's waker. If several tasks poll one
//! direction of a socket, through any of its handles, only the last one is woken.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};

use super::socket::total;
use super::tcp_stream::TcpStream;
use super::unix_stream::UnixStream;

/// `$all`: true if a read takes all available data that fits in its buffer.
macro_rules! polled {
    ($name:ident, $all:literal) => {
        polled!(@for $name, $all);
        polled!(@for &$name, $all);
    };
    (@for $target:ty, $all:literal) => {
        /// With the feature `futures`. Time limits of the stream do not apply here.
        impl AsyncRead for $target {
            fn poll_read(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                buffer: &mut [u8],
            ) -> Poll<io::Result<usize>> {
                let len = buffer.len();
                self.socket
                    .poll_read(context, len, $all, |mut inner| inner.read(buffer))
            }

            fn poll_read_vectored(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                buffers: &mut [IoSliceMut<'_>],
            ) -> Poll<io::Result<usize>> {
                let len = total(buffers.iter().map(|buffer| buffer.len()));
                self.socket
                    .poll_read(context, len, $all, |mut inner| inner.read_vectored(buffers))
            }
        }

        /// With the feature `futures`. Closing shuts down the direction for writing. Time limits of
        /// the stream do not apply here.
        impl AsyncWrite for $target {
            fn poll_write(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                buffer: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.socket
                    .poll_write(context, buffer.len(), |mut inner| inner.write(buffer))
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                buffers: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                let len = total(buffers.iter().map(|buffer| buffer.len()));
                self.socket
                    .poll_write(context, len, |mut inner| inner.write_vectored(buffers))
            }

            fn poll_flush(
                self: Pin<&mut Self>,
                _: &mut Context<'_>,
            ) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_close(
                self: Pin<&mut Self>,
                _: &mut Context<'_>,
            ) -> Poll<io::Result<()>> {
                match self.shutdown(Shutdown::Write) {
                    // The other end closed first.
                    Err(error) if error.kind() == io::ErrorKind::NotConnected => {
                        Poll::Ready(Ok(()))
                    }
                    result => Poll::Ready(result),
                }
            }
        }
    };
}

polled!(TcpStream, true);
// A read ends early behind data that was sent with a descriptor.
polled!(UnixStream, false);

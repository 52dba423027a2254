//! Streams for hyper, which read into uninitialized memory.

// Does not own: that memory (`future::hyper`).

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::AsyncWrite;
use hyper::rt::{Read, ReadBufCursor, Write};
use socket2::SockRef;

use super::tcp_stream::TcpStream;
use super::unix_stream::UnixStream;
use crate::future::hyper::receive;

macro_rules! hyper {
    ($name:ident, $all:literal) => {
        /// With the feature `hyper`. Time limits of the stream do not apply here.
        impl Read for $name {
            fn poll_read(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                mut buffer: ReadBufCursor<'_>,
            ) -> Poll<io::Result<()>> {
                let len = buffer.remaining();
                let read = self.socket.poll_read(context, len, $all, |inner| {
                    receive(&SockRef::from(inner), &mut buffer)
                })?;
                read.map(|_| Ok(()))
            }
        }

        /// With the feature `hyper`. Shutting down affects the direction for writing. Time limits
        /// of the stream do not apply here.
        impl Write for $name {
            fn poll_write(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                buffer: &[u8],
            ) -> Poll<io::Result<usize>> {
                AsyncWrite::poll_write(self, context, buffer)
            }

            fn poll_flush(
                self: Pin<&mut Self>,
                _: &mut Context<'_>,
            ) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
            ) -> Poll<io::Result<()>> {
                AsyncWrite::poll_close(self, context)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                context: &mut Context<'_>,
                buffers: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                AsyncWrite::poll_write_vectored(self, context, buffers)
            }
        }
    };
}

hyper!(TcpStream, true);
// A read ends early behind data that was sent with a descriptor.
hyper!(UnixStream, false);

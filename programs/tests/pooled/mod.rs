//! A stream and a connector, with which the pooled client of `hyper-util` runs over sockets of the
//! library. Both are an example to be copied.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper::http::uri::Scheme;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use pirn::future::fiber;
use pirn::net::TcpStream;
use tower_service::Service;

/// A connection of the pool.
#[derive(Debug)]
pub(crate) struct Stream(TcpStream);

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl Write for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Connects to the host and port of a URI with the scheme `http`. A fiber of its own waits for the
/// lookup of the name and for the connection.
#[derive(Debug, Clone)]
pub(crate) struct Connector;

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        // An IPv6 address is in brackets there.
        let host = to.host().unwrap_or_default().trim_matches(['[', ']']);
        let address = (host.to_owned(), to.port_u16().unwrap_or(80));
        let is_plain = to.scheme() == Some(&Scheme::HTTP);
        Box::pin(async move {
            if !is_plain {
                let refused = format!("{to}: only `http` is supported, for want of TLS");
                return Err(io::Error::new(io::ErrorKind::Unsupported, refused));
            }
            let connect = move || TcpStream::connect((address.0.as_str(), address.1));
            Ok(Stream(fiber(connect).await??))
        })
    }
}

//! The client's transport: sockets on which fibers wait, and name lookup that does not block a
//! worker.
//!
//! The client treats some errors as the end of a body of unknown length, which would then be
//! truncated: a reset, and a TLS connection without a close notification. `Strict` wraps the
//! connection, with or without TLS, and turns them into errors that the client reports.

use std::io::{self, Read as _, Write as _};

use pirn::net::{TcpStream, lookup_host};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, RustlsConnector,
    Transport,
};
use ureq::{Error, Timeout};

/// Makes connections.
#[derive(Debug)]
pub(crate) struct Connect;

/// Makes connections [`Strict`].
#[derive(Debug)]
struct Strict;

/// A connection on which an error is never treated as the end of a body.
#[derive(Debug)]
pub(crate) struct StrictTransport<T>(T);

/// Looks up names.
#[derive(Debug)]
pub(crate) struct Resolve;

/// A connection.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    buffers: LazyBuffers,
}

impl Connect {
    /// With TLS on top if requested.
    pub(crate) fn chained() -> impl Connector {
        Connect.chain(RustlsConnector::default()).chain(Strict)
    }
}

impl<T: Transport> Connector<T> for Strict {
    type Out = StrictTransport<T>;

    fn connect(
        &self,
        _: &ConnectionDetails<'_>,
        chained: Option<T>,
    ) -> Result<Option<StrictTransport<T>>, Error> {
        Ok(chained.map(StrictTransport))
    }
}

impl<T: Transport> Transport for StrictTransport<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.0.buffers()
    }

    fn transmit_output(
        &mut self,
        amount: usize,
        timeout: NextTimeout,
    ) -> Result<(), Error> {
        self.0.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        use io::ErrorKind::{ConnectionAborted, ConnectionReset, UnexpectedEof};
        let awaited = self.0.await_input(timeout);
        awaited.map_err(|error| match error {
            Error::Io(error)
                if matches!(
                    error.kind(),
                    ConnectionAborted | ConnectionReset | UnexpectedEof
                ) =>
            {
                Error::Io(io::Error::other(error))
            }
            error => error,
        })
    }

    fn is_open(&mut self) -> bool {
        self.0.is_open()
    }

    fn is_tls(&self) -> bool {
        self.0.is_tls()
    }
}

impl Connector for Connect {
    type Out = Socket;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        _: Option<()>,
    ) -> Result<Option<Socket>, Error> {
        let mut last = Error::HostNotFound;
        for address in &details.addrs {
            let connected = match details.timeout.not_zero() {
                Some(limit) => TcpStream::connect_timeout(address, *limit),
                None => TcpStream::connect(address),
            };
            match connected {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    let (input, output) = (
                        details.config.input_buffer_size(),
                        details.config.output_buffer_size(),
                    );
                    let buffers = LazyBuffers::new(input, output);
                    return Ok(Some(Socket { stream, buffers }));
                }
                Err(error) => last = named(error, details.timeout.reason),
            }
        }
        Err(last)
    }
}

impl Resolver for Resolve {
    fn resolve(
        &self,
        uri: &Uri,
        _: &Config,
        _: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let host = uri
            .scheme()
            .zip(uri.authority())
            .and_then(|(scheme, authority)| {
                DefaultResolver::host_and_port(scheme, authority)
            });
        let host = host.ok_or_else(|| Error::BadUri(uri.to_string()))?;
        let mut addresses = self.empty();
        // The client accepts at most sixteen.
        for address in lookup_host(&host)?.into_iter().take(16) {
            addresses.push(address);
        }
        if addresses.is_empty() {
            return Err(Error::HostNotFound);
        }
        Ok(addresses)
    }
}

impl Transport for Socket {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(
        &mut self,
        amount: usize,
        timeout: NextTimeout,
    ) -> Result<(), Error> {
        let timeout = timeout.for_write();
        let limit = timeout.not_zero().map(|limit| *limit);
        self.stream.set_write_timeout(limit)?;
        let sent = self.stream.write_all(&self.buffers.output()[..amount]);
        sent.map_err(|error| named(error, timeout.reason))
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let timeout = timeout.for_read();
        let limit = timeout.not_zero().map(|limit| *limit);
        self.stream.set_read_timeout(limit)?;
        let received = self.stream.read(self.buffers.input_append_buf());
        let n = received.map_err(|error| named(error, timeout.reason))?;
        self.buffers.input_appended(n);
        Ok(n > 0)
    }

    /// Connections are not reused.
    fn is_open(&mut self) -> bool {
        false
    }
}

/// Returns the client's error for a socket error.
fn named(error: io::Error, reason: Timeout) -> Error {
    match error.kind() {
        io::ErrorKind::TimedOut => Error::Timeout(reason),
        _ => Error::Io(error),
    }
}

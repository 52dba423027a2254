//! One client, from its first request to its last.

use std::error::Error;
use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use hyper_util::server::conn::auto;
use pirn::future::hyper::{Executor, Timer};
use pirn::future::wait;
use pirn::net::TcpStream;
use pirn_programs::Stop;

use crate::pace::Pace;
use crate::service::Timed;

/// The time limits of a client.
#[derive(Debug, Copy, Clone)]
pub(crate) struct Limits {
    /// For the head of a request.
    pub(crate) patience: Duration,
    /// For the body of a request, and for an answer to be read.
    pub(crate) body: Duration,
}

/// Answers one client until it leaves or is too slow; at a shutdown, until its requests are
/// answered.
pub(crate) fn serve(
    stream: TcpStream,
    routes: Router,
    limits: Limits,
    stop: &Stop,
) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let pace = Pace::new(limits.patience, limits.body);
    let service = Timed::new(routes, Arc::clone(&pace), limits.body);
    let protocols = protocols(limits.patience);
    let mut connection = pin!(protocols.serve_connection(stream, service));
    let mut ended = stop.unless(|| wait(pace.keep(connection.as_mut())))?;
    if ended.is_none() {
        // A request that has arrived is read first: the interrupted wait may have polled nothing.
        let once = poll_fn(|cx| Poll::Ready(connection.as_mut().poll(cx)));
        ended = match wait(once)? {
            Poll::Ready(served) => Some(Some(served)),
            Poll::Pending => {
                connection.as_mut().graceful_shutdown();
                Some(wait(pace.keep(connection.as_mut()))?)
            }
        };
    }
    match ended.flatten() {
        Some(Err(error)) if !is_gone(&*error) => Err(anyhow::Error::from_boxed(error)),
        Some(_) => Ok(()),
        // Overdue. An idle client gets its protocol's regular close.
        None => {
            if pace.is_quiet() {
                connection.as_mut().graceful_shutdown();
                // Its outcome is not reported.
                let _ = pirn::timeout(GOODBYE, || wait(connection));
            }
            Ok(())
        }
    }
}

/// Both protocols, with bounds on the buffers of a client.
fn protocols(patience: Duration) -> auto::Builder<Executor> {
    let mut protocols = auto::Builder::new(Executor);
    protocols
        .http1()
        .timer(Timer)
        .header_read_timeout(patience)
        .max_buf_size(BUFFER);
    protocols
        .http2()
        .timer(Timer)
        .keep_alive_interval(patience)
        .max_concurrent_streams(STREAMS)
        .max_send_buf_size(BUFFER);
    protocols
}

/// Returns true if it is not reported: the client has disconnected, or was too slow.
fn is_gone(error: &(dyn Error + 'static)) -> bool {
    use io::ErrorKind::{
        BrokenPipe, ConnectionReset, Interrupted, NotConnected, UnexpectedEof,
    };
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<hyper::Error>()
            && (error.is_incomplete_message()
                || error.is_timeout()
                || error.is_canceled())
        {
            return true;
        }
        if let Some(error) = error.downcast_ref::<io::Error>()
            && matches!(
                error.kind(),
                // Interrupted: a shutdown before the client has chosen its protocol.
                BrokenPipe | ConnectionReset | Interrupted | NotConnected | UnexpectedEof
            )
        {
            return true;
        }
        next = error.source();
    }
    false
}

/// Maximum buffered bytes of a head, or of unsent answers. Arbitrary.
const BUFFER: usize = 64 << 10;

/// Maximum number of concurrent requests of one connection, over HTTP/2. Arbitrary.
const STREAMS: u32 = 200;

/// Time for a client to receive the close of its connection. Arbitrary.
const GOODBYE: Duration = Duration::from_secs(1);

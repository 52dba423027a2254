//! One client, from its first request to its last.

use std::error::Error;
use std::io;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use pirn::future::hyper::{Executor, Timer};
use pirn::future::wait;
use pirn::net::TcpStream;
use pirn_programs::Stop;

/// Answers one client until it leaves or is silent for too long; told to stop, until what it has
/// asked for is answered.
pub(crate) fn serve(
    stream: TcpStream,
    routes: Router,
    patience: Duration,
    stop: &Stop,
) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    // Until then there is no protocol whose limits could hold.
    let spoken = || pirn::timeout(patience, || stream.peek(&mut [0]));
    match stop.unless(|| spoken().unwrap_or(Ok(0)))? {
        Some(1..) => {}
        Some(0) | None => return Ok(()),
    }
    let mut protocols = auto::Builder::new(Executor);
    protocols.http1().timer(Timer).header_read_timeout(patience);
    protocols.http2().timer(Timer).keep_alive_interval(patience);
    let service = TowerToHyperService::new(routes);
    let mut connection = pin!(protocols.serve_connection(stream, service));
    let ended = match stop.unless(|| wait(connection.as_mut()))? {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            wait(connection)?
        }
    };
    ended.or_else(|error| match is_gone(&*error) {
        true => Ok(()),
        false => Err(anyhow::Error::from_boxed(error)),
    })
}

/// Whether it is no news: the client has left in the middle of something, or was too slow.
fn is_gone(error: &(dyn Error + 'static)) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, NotConnected, UnexpectedEof};
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
                BrokenPipe | ConnectionReset | NotConnected | UnexpectedEof
            )
        {
            return true;
        }
        next = error.source();
    }
    false
}

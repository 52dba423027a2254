//! One client of the server.
//!
//! The time limits: for the first call, for pings, and for each message of a call (`service`). A client
//! that has called may stay without a call for as long as it answers pings.

use std::error::Error;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::server::conn::http2;
use hyper::service::{Service as _, service_fn};
use hyper_util::service::TowerToHyperService;
use pirn::future::hyper::{Executor, Timer};
use pirn::future::wait;
use pirn::net::TcpStream;
use pirn_programs::Stop;

use crate::proto::numbers_server::NumbersServer;
use crate::service::Service;

/// The limit for the first call to arrive; also the interval between pings of HTTP/2, and the limit
/// for their answers. Arbitrary.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time for a client to receive the close of its connection. Arbitrary.
const GOODBYE: Duration = Duration::from_secs(1);

/// How many calls of a client run at once. Arbitrary.
const CALLS: u32 = 200;

/// Answers one client until it leaves; at a shutdown, until its calls are answered.
pub(crate) fn serve(stream: TcpStream, stop: &Stop) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let has_called = Arc::new(AtomicBool::new(false));
    let methods = TowerToHyperService::new(NumbersServer::new(Service));
    let called = Arc::clone(&has_called);
    let service = service_fn(move |request| {
        // ORDERING: read by the fiber that polls, and so calls, this.
        called.store(true, Ordering::Relaxed);
        methods.call(request)
    });
    let mut protocol = http2::Builder::new(Executor);
    protocol
        .timer(Timer)
        .keep_alive_interval(PATIENCE)
        .keep_alive_timeout(PATIENCE)
        .max_concurrent_streams(CALLS);
    let mut connection = pin!(protocol.serve_connection(stream, service));
    let first = pirn::timeout(PATIENCE, || stop.unless(|| wait(connection.as_mut())));
    let mut ended = match first {
        Ok(ended) => ended?,
        Err(_) if has_called.load(Ordering::Relaxed) => {
            stop.unless(|| wait(connection.as_mut()))?
        }
        Err(_) => {
            connection.as_mut().graceful_shutdown();
            // Its outcome is not reported.
            let _ = pirn::timeout(GOODBYE, || wait(connection));
            return Ok(());
        }
    };
    if ended.is_none() {
        connection.as_mut().graceful_shutdown();
        ended = Some(wait(connection)?);
    }
    match ended {
        Some(Err(error)) if !is_gone(&error) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Returns true if it is not reported: the client has disconnected, or was too slow.
fn is_gone(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<hyper::Error>()
            && (error.is_incomplete_message()
                || error.is_timeout()
                || error.is_canceled()
                || error.is_closed())
        {
            return true;
        }
        // Of the connection, or of the client's end of it.
        if error.downcast_ref::<io::Error>().is_some() {
            return true;
        }
        next = error.source();
    }
    false
}

//! One client, from its first request to its last.

use std::convert::Infallible;
use std::future::{Future as _, poll_fn};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper::{Request, Response};
use pirn::future::hyper::Timer;
use pirn::future::{fiber, wait};
use pirn::net::TcpStream;
use pirn_programs::Stop;

use crate::answer::Answer;
use crate::forward::Proxy;
use crate::stall::{Stalled, Watched, keep};

/// How long a client may take for the head of a request. Arbitrary.
const PATIENCE: Duration = Duration::from_secs(30);

/// Answers one client until it leaves, or has read nothing of an answer for the time `stall`; at a
/// shutdown, until its request is answered.
pub(crate) fn serve(
    stream: TcpStream,
    proxy: &Arc<Proxy>,
    stall: Duration,
    stop: &Stop,
) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let service = Client {
        proxy: Arc::clone(proxy),
        address: stream.peer_addr()?.ip(),
    };
    let mut protocol = http1::Builder::new();
    protocol.timer(Timer).header_read_timeout(PATIENCE);
    let stalled = Stalled::default();
    let stream = Watched::new(stream, stalled.clone())?;
    let mut connection = pin!(protocol.serve_connection(stream, service));
    // The end of a connection releases the place of its answer at the backend.
    let ended = stop.unless(|| keep(connection.as_mut(), &stalled, stall))?;
    // A request that has arrived is read first: the interrupted wait may have polled nothing.
    let mut once = || wait(poll_fn(|cx| Poll::Ready(connection.as_mut().poll(cx))));
    if ended.is_none() && once()?.is_pending() {
        connection.as_mut().graceful_shutdown();
        // The client has left, or its backend: neither is an error of the proxy.
        let _ = keep(connection, &stalled, stall)?;
    }
    Ok(())
}

/// The service for one client.
#[derive(Debug)]
struct Client {
    proxy: Arc<Proxy>,
    address: IpAddr,
}

impl Service<Request<Incoming>> for Client {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future =
        Pin<Box<dyn Future<Output = Result<Response<Answer>, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let (proxy, address) = (Arc::clone(&self.proxy), self.address);
        // If the client leaves, hyper drops the future, and the fiber is interrupted.
        let answer = fiber(move || proxy.answer(request, address));
        Box::pin(async move {
            let answer = answer.await;
            Ok(answer.unwrap_or_else(|error| Answer::status(500, &error.to_string())))
        })
    }
}

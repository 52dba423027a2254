//! HTTP/1.1 with hyper: one short answer to everything.

use std::convert::Infallible;
use std::io;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::net::load::BODY;

use super::Settings;
use super::tokio::{current_thread, multi_thread, serve};

pub(super) fn http_multi_thread(settings: &Settings) -> io::Result<()> {
    multi_thread(settings)?.block_on(serve(settings, talk))
}

pub(super) fn http_current_thread(settings: &Settings) -> io::Result<()> {
    current_thread()?.block_on(serve(settings, talk))
}

async fn talk(stream: TcpStream) {
    let talk =
        http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer));
    // A connection that fails ends its task; the load at its other end reports that.
    let _ = talk.await;
}

async fn answer(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::new(Bytes::from_static(BODY))))
}

//! pirn: a fiber for each connection; also with free migration, and with four times the workers.

use std::convert::Infallible;
use std::io;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use pirn::future::wait;
use pirn::net::{TcpListener, TcpStream};
use pirn::runtime::Runtime;
use pirn::spawn;

use crate::net::load::BODY;
use crate::peers::{EIGHT, FREE};

use super::{Settings, start, text};

pub(super) fn echo(settings: &Settings) -> io::Result<()> {
    let manner = settings.manner();
    serve(settings, move |stream| {
        // A connection that fails ends its fiber; the load at its other end reports that.
        let _ = text::echo(stream, manner);
    })
}

pub(super) fn http(settings: &Settings) -> io::Result<()> {
    serve(settings, |stream| {
        let talk = http1::Builder::new().serve_connection(stream, service_fn(answer));
        // As above.
        let _ = wait(talk);
    })
}

async fn answer(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::new(Bytes::from_static(BODY))))
}

fn serve(
    settings: &Settings,
    talk: impl Fn(TcpStream) + Copy + Send + Sync + 'static,
) -> io::Result<()> {
    let factor = if settings.name == EIGHT { 4 } else { 1 };
    let mut builder = Runtime::builder().workers(settings.workers * factor);
    if settings.name == FREE {
        // SAFETY: the servers hold nothing of a thread while they wait for a socket, and hyper
        // reads its thread-local date within one call.
        builder = unsafe { builder.free_migration() };
    }
    if settings.stack != 0 {
        builder = builder.stack_size(settings.stack);
    }
    let runtime = builder.build().map_err(io::Error::other)?;
    runtime.run(|| {
        let listener = TcpListener::bind(("127.0.0.1", settings.port))?;
        start::announce(listener.local_addr()?)?;
        for stream in listener.incoming() {
            let stream = stream?;
            stream.set_nodelay(true)?;
            spawn(move || talk(stream)).detach();
        }
        Ok(())
    })
}

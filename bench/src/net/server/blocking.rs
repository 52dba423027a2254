//! pirn, may and plain threads: the source that libraries with blocking sockets share.

use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::thread;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use may::go;
use pirn::runtime::Runtime;

use crate::child::compute;
use crate::net::load::BODY;
use crate::peers::{EIGHT, FREE};

use super::Settings;
use super::bill::{Bill, Price};
use super::start::{BUFFER, SMALL, announce, listen};

/// How a connection is served.
#[derive(Clone, Copy)]
struct Manner {
    small: bool,
    price: Option<&'static Price>,
}

impl Manner {
    fn of(settings: &Settings) -> Manner {
        Manner {
            small: settings.small,
            price: settings.price(),
        }
    }

    /// Echoes until the other side has closed.
    fn echo(self, stream: impl Read + Write) {
        let ended = match (self.price, self.small) {
            (Some(price), _) => work(stream, price.bill()),
            (None, true) => echo_by::<SMALL>(stream),
            (None, false) => echo_by::<BUFFER>(stream),
        };
        // As in the head of the module.
        drop(ended);
    }
}

/// Computes for each request before it echoes it.
fn work(mut stream: impl Read + Write, mut bill: Bill) -> io::Result<()> {
    let mut buffer = [0; BUFFER];
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            count => {
                compute(bill.add(count));
                stream.write_all(&buffer[..count])?;
            }
        }
    }
}

// Not inlined: both buffers would be in one frame.
#[inline(never)]
fn echo_by<const SIZE: usize>(mut stream: impl Read + Write) -> io::Result<()> {
    let mut buffer = [0; SIZE];
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            count => stream.write_all(&buffer[..count])?,
        }
    }
}

pub(super) fn threads_echo(settings: &Settings) -> io::Result<()> {
    let manner = Manner::of(settings);
    for stream in listen(settings)?.incoming() {
        let stream = stream?;
        stream.set_nodelay(true)?;
        thread::spawn(move || manner.echo(stream));
    }
    Ok(())
}

/// Changes one byte on each connection: the last one of the first read after the greeting, which
/// every load reaches.
pub(super) fn wrong_echo(settings: &Settings) -> io::Result<()> {
    for stream in listen(settings)?.incoming() {
        let mut stream = stream?;
        thread::spawn(move || -> io::Result<()> {
            let mut buffer = [0; BUFFER];
            for turn in 1.. {
                let count = stream.read(&mut buffer)?;
                if count == 0 {
                    break;
                }
                buffer[count - 1] ^= u8::from(turn == 2);
                stream.write_all(&buffer[..count])?;
            }
            Ok(())
        });
    }
    Ok(())
}

pub(super) fn may_echo(settings: &Settings) -> io::Result<()> {
    may::config().set_workers(settings.workers);
    if settings.stack != 0 {
        may::config().set_stack_size(settings.stack / size_of::<usize>());
    }
    let listener = may::net::TcpListener::bind(("127.0.0.1", settings.port))?;
    announce(listener.local_addr()?)?;
    let manner = Manner::of(settings);
    let accepting = go!(move || -> io::Result<()> {
        for stream in listener.incoming() {
            let stream = stream?;
            stream.set_nodelay(true)?;
            go!(move || manner.echo(stream));
        }
        Ok(())
    });
    let ended = accepting.join();
    ended.unwrap_or_else(|_| Err(io::Error::other("a coroutine panicked")))
}

pub(super) fn pirn_echo(settings: &Settings) -> io::Result<()> {
    let manner = Manner::of(settings);
    serve(settings, move |stream| manner.echo(stream))
}

pub(super) fn pirn_http(settings: &Settings) -> io::Result<()> {
    serve(settings, |stream| {
        let talk = http1::Builder::new().serve_connection(stream, service_fn(answer));
        // As in the head of the module.
        let _ = pirn::future::wait(talk);
    })
}

/// The sockets of `std` on fibers. The program must link `pirn-hooks`.
pub(super) fn std_echo(settings: &Settings) -> io::Result<()> {
    let manner = Manner::of(settings);
    let builder = Runtime::builder().workers(settings.workers).hooks(true);
    let builder = match settings.stack {
        0 => builder,
        stack => builder.stack_size(stack),
    };
    builder.build()?.run(|| {
        for stream in listen(settings)?.incoming() {
            let stream = stream?;
            stream.set_nodelay(true)?;
            pirn::spawn(move || manner.echo(stream)).detach();
        }
        Ok(())
    })
}

/// Returns the same short answer to everything.
pub(super) async fn answer(
    _: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::new(Bytes::from_static(BODY))))
}

/// A fiber for each connection; also with free migration, and with four times the workers.
fn serve(
    settings: &Settings,
    talk: impl Fn(pirn::net::TcpStream) + Copy + Send + Sync + 'static,
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
        let listener = pirn::net::TcpListener::bind(("127.0.0.1", settings.port))?;
        announce(listener.local_addr()?)?;
        for stream in listener.incoming() {
            let stream = stream?;
            stream.set_nodelay(true)?;
            pirn::spawn(move || talk(stream)).detach();
        }
        Ok(())
    })
}

//! may: a coroutine for each connection.

use std::io;

use may::go;
use may::net::TcpListener;

use super::{Settings, start, text};

pub(super) fn echo(settings: &Settings) -> io::Result<()> {
    may::config().set_workers(settings.workers);
    if settings.stack != 0 {
        may::config().set_stack_size(settings.stack / size_of::<usize>());
    }
    let listener = TcpListener::bind(("127.0.0.1", settings.port))?;
    start::announce(listener.local_addr()?)?;
    let manner = settings.manner();
    let accepting = go!(move || -> io::Result<()> {
        for stream in listener.incoming() {
            let stream = stream?;
            stream.set_nodelay(true)?;
            // A connection that fails ends its coroutine; the load at its other end reports that.
            go!(move || text::echo(stream, manner).ok());
        }
        Ok(())
    });
    match accepting.join() {
        Ok(ended) => ended,
        Err(_) => Err(io::Error::other("a coroutine panicked")),
    }
}

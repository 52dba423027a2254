//! pirn: a fiber for each connection.

use std::io;

use pirn::net::TcpListener;
use pirn::runtime::Runtime;
use pirn::spawn;

use super::{Settings, start, text};

pub(super) fn echo(settings: &Settings) -> io::Result<()> {
    let mut builder = Runtime::builder().workers(settings.workers);
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
            // A connection that breaks ends its fiber; the load at its other end says so.
            spawn(move || text::echo(stream).ok()).detach();
        }
        Ok(())
    })
}

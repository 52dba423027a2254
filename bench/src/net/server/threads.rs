//! Plain threads, one for each connection.

use std::io;
use std::thread;

use super::{Settings, start, text};

pub(super) fn echo(settings: &Settings) -> io::Result<()> {
    let manner = settings.manner();
    let listener = start::listen(settings)?;
    for stream in listener.incoming() {
        let stream = stream?;
        stream.set_nodelay(true)?;
        // A connection that fails ends its thread; the load at its other end reports that.
        thread::spawn(move || text::echo(stream, manner).ok());
    }
    Ok(())
}

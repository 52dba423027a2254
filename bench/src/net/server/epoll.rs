//! The floor: one thread polls its epoll set, without a scheduler, a fiber or a task.
//!
//! Bytes that a socket does not accept at once are kept, and no more are read from it until they
//! are written.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::net::poll::{Poll, READ, WRITE};

use super::Settings;
use super::start::{BUFFER, listen};

/// The number of the listener; a connection's is one more than its place.
const LISTENER: usize = 0;

/// Maximum events of one wait; arbitrary.
const EVENTS: usize = 1024;

pub(super) fn echo(settings: &Settings) -> io::Result<()> {
    let listener = listen(settings)?;
    listener.set_nonblocking(true)?;
    let mut poll = Poll::new(EVENTS)?;
    poll.add(&listener, LISTENER)?;
    let mut connections = Connections::default();
    let mut ready = Vec::with_capacity(EVENTS);
    let mut buffer = [0; BUFFER];
    loop {
        poll.wait(None, &mut ready)?;
        for number in &ready {
            match number.checked_sub(1) {
                None => connections.accept(&listener, &poll)?,
                Some(place) => connections.serve(place, &mut buffer, &poll)?,
            }
        }
    }
}

#[derive(Default)]
struct Connections {
    open: Vec<Option<Connection>>,
    free: Vec<usize>,
}

struct Connection {
    stream: TcpStream,
    /// Bytes that were read and not written yet.
    rest: Vec<u8>,
}

impl Connections {
    fn accept(&mut self, listener: &TcpListener, poll: &Poll) -> io::Result<()> {
        let (stream, _) = match listener.accept() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            accepted => accepted?,
        };
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let place = self.free.pop().unwrap_or_else(|| {
            self.open.push(None);
            self.open.len() - 1
        });
        poll.add(&stream, place + 1)?;
        let rest = Vec::new();
        self.open[place] = Some(Connection { stream, rest });
        Ok(())
    }

    fn serve(&mut self, place: usize, buffer: &mut [u8], poll: &Poll) -> io::Result<()> {
        let Some(connection) = &mut self.open[place] else {
            return Ok(());
        };
        let was_full = !connection.rest.is_empty();
        if connection.serve(buffer).is_err() {
            // It has ended or failed; the load at its other end reports that.
            self.open[place] = None;
            self.free.push(place);
            return Ok(());
        }
        let is_full = !connection.rest.is_empty();
        let events = if is_full { WRITE } else { READ };
        match is_full == was_full {
            true => Ok(()),
            false => poll.change(&connection.stream, place + 1, events),
        }
    }
}

impl Connection {
    /// Reads once and echoes it, or writes bytes that the socket did not accept before.
    fn serve(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let words = if self.rest.is_empty() {
            match self.stream.read(buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Err(error) if is_for_now(&error) => return Ok(()),
                read => &buffer[..read?],
            }
        } else {
            self.rest.as_slice()
        };
        let said = match self.stream.write(words) {
            Err(error) if is_for_now(&error) => 0,
            said => said?,
        };
        if said < words.len() {
            self.rest = words[said..].to_vec();
        } else if !self.rest.is_empty() {
            self.rest.clear();
        }
        Ok(())
    }
}

/// Returns true if the same call may succeed later.
fn is_for_now(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

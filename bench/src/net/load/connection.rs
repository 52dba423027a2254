//! One connection of a load.
//!
//! `asked` counts the requests that are due. Their bytes are written as far as the socket accepts
//! them, the rest later. A request's latency is measured from the moment at which it is due, so
//! waiting for the socket in this process is included.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::ptr;
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

use super::dialect::Dialect;

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// Its number, for messages.
    number: usize,
    pub(super) stream: TcpStream,
    dialect: Dialect,
    /// Bytes that have been written.
    said: u64,
    /// Bytes that are due.
    due: u64,
    /// The times of the requests without an answer, the oldest first.
    open: VecDeque<u64>,
}

/// The state of a connection after a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// All due bytes have been written.
    All,
    /// The socket is full.
    Part,
}

impl Connection {
    /// Connects from `local` to `server`. It blocks until [`Connection::ready`].
    pub(super) fn open(
        number: usize,
        local: SocketAddr,
        server: SocketAddr,
        dialect: Dialect,
    ) -> Result<Connection, String> {
        let connect = || {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
            choose_port_late(&socket)?;
            socket.bind(&local.into())?;
            socket.connect(&server.into())?;
            socket.set_tcp_nodelay(true)?;
            Ok(TcpStream::from(socket))
        };
        Ok(Connection {
            number,
            stream: connect().map_err(at(place(number)))?,
            dialect,
            said: 0,
            due: 0,
            open: VecDeque::new(),
        })
    }

    /// Sends one request and waits for the answer, at most that long: after that the server has
    /// accepted the connection.
    pub(super) fn greet(
        &mut self,
        patience: Duration,
        buffer: &mut [u8],
    ) -> Result<(), String> {
        self.stream
            .set_read_timeout(Some(patience))
            .map_err(at(place(self.number)))?;
        self.ask(1, 0)?;
        let asked = Instant::now();
        while !self.open.is_empty() {
            if self.hear(buffer, |_| {})? == 0 && asked.elapsed() >= patience {
                return Err(silent(1));
            }
        }
        self.stream
            .set_nonblocking(true)
            .map_err(at(place(self.number)))
    }

    /// Makes `count` more requests due, at this time.
    pub(super) fn ask(&mut self, count: u64, now: u64) -> Result<Said, String> {
        self.due += count * self.dialect.size() as u64;
        self.open.extend((0..count).map(|_| now));
        self.flush()
    }

    /// Returns the number of its requests after the greeting.
    pub(super) fn asked(&self) -> u64 {
        (self.due / self.dialect.size() as u64).saturating_sub(1)
    }

    /// Writes the due bytes that have not been written yet.
    pub(super) fn flush(&mut self) -> Result<Said, String> {
        while self.said < self.due {
            let words = self.dialect.say(self.said, (self.due - self.said) as usize);
            match (&self.stream).write(words) {
                Ok(count) => self.said += count as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Said::Part);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(at(place(self.number))(error)),
            }
        }
        Ok(Said::All)
    }

    /// Reads once, and calls `answered` with the time of the request for each complete answer.
    pub(super) fn hear(
        &mut self,
        buffer: &mut [u8],
        mut answered: impl FnMut(u64),
    ) -> Result<u64, String> {
        let count = match (&self.stream).read(buffer) {
            Ok(0) => return Err(self.wrong("the server has closed it".to_owned())),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(0),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Ok(0);
            }
            Err(error) => return Err(at(place(self.number))(error)),
        };
        let answers = self
            .dialect
            .hear(&buffer[..count])
            .map_err(|what| self.wrong(what))?;
        for _ in 0..answers {
            let asked = self.open.pop_front();
            let asked =
                asked.ok_or_else(|| self.wrong("an answer without a request".into()))?;
            answered(asked);
        }
        Ok(answers)
    }

    /// Returns true if due bytes have not been written.
    pub(super) fn is_behind(&self) -> bool {
        self.said < self.due
    }

    /// Shuts down the sending direction; the server must end the connection without further bytes.
    pub(super) fn close(
        self,
        patience: Duration,
        buffer: &mut [u8],
    ) -> Result<(), String> {
        let mut end = || {
            self.stream.set_nonblocking(false)?;
            self.stream.set_read_timeout(Some(patience))?;
            self.stream.shutdown(Shutdown::Write)?;
            (&self.stream).read(buffer)
        };
        match end() {
            Ok(0) => Ok(()),
            Ok(count) => Err(self.wrong(format!("{count} bytes after the last answer"))),
            Err(error) => Err(at(place(self.number))(error)),
        }
    }

    fn wrong(&self, what: String) -> String {
        format!("{}: {what}", place(self.number))
    }
}

/// Returns the error of a server that has not answered for a long time.
pub(super) fn silent(awaited: u64) -> String {
    format!("the server is silent, {awaited} answers are missing")
}

/// Defers the choice of the port to `connect`, which knows both ends, instead of `bind`, which
/// needs an unused one.
fn choose_port_late(socket: &Socket) -> io::Result<()> {
    let yes = 1;
    // SAFETY: the socket is open, and the call reads the four bytes of `yes`.
    let failed = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            ptr::from_ref::<i32>(&yes).cast(),
            size_of::<i32>() as u32,
        )
    };
    match failed {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn place(number: usize) -> String {
    format!("connection {number}")
}

/// Adds a place to an error of the system.
pub(super) fn at(place: impl Into<String>) -> impl FnOnce(io::Error) -> String {
    let place = place.into();
    move |error| format!("{place}: {error}")
}

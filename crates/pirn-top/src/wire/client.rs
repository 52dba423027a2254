//! One request, one connection.

#![expect(
    clippy::disallowed_methods,
    reason = "a program of plain threads, which looks at others' fibers"
)]

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};

use super::answer::{Answer, Limits, is_timeout};
use super::failure::{Failure, Silence};
use super::lines::{Fiber, Snapshot, read};
use super::process;

/// Interval between two attempts to connect while the queue is full. Arbitrary.
const PAUSE: Duration = Duration::from_millis(20);

/// Requests a snapshot, with at most `most` fibers of each worker.
///
/// # Errors
/// Why there is no answer.
pub fn ask_snapshot(path: &Path, most: u64) -> Result<Snapshot, Failure> {
    let snapshot = ask(path, &format!("snapshot {most}\n"))?;
    if snapshot.runtime.is_none() {
        let said = "it does not say of which runtime it is".to_owned();
        return Err(Failure::Nonsense(said));
    }
    Ok(snapshot)
}

/// Requests one fiber, with its frames.
///
/// # Errors
/// Why there is no answer.
pub fn ask_fiber(path: &Path, id: &str) -> Result<Fiber, Failure> {
    let mut snapshot = ask(path, &format!("fiber {id}\n"))?;
    let none = || Failure::Nonsense("it has no fiber in it".to_owned());
    snapshot.fibers.pop().ok_or_else(none)
}

/// Sends the line `request`, and returns the whole answer as it came.
///
/// # Errors
/// Why there is no answer.
pub fn ask_raw(path: &Path, request: &str) -> Result<Vec<u8>, Failure> {
    exchange(path, request, |answer| {
        let mut whole = Vec::new();
        answer.read_to_end(&mut whole).map_err(Failure::System)?;
        read(&mut &whole[..])?;
        Ok(whole)
    })
}

fn ask(path: &Path, request: &str) -> Result<Snapshot, Failure> {
    exchange(path, request, |answer| read(answer))
}

fn exchange<T>(
    path: &Path,
    request: &str,
    read: impl FnOnce(&mut BufReader<Answer>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let (began, limits) = (Instant::now(), Limits::ALL);
    let mut socket = connected(path, began + limits.silence)?;
    let process = process::of_peer(&socket);
    let timeout = Some(limits.silence);
    socket.set_write_timeout(timeout).map_err(Failure::System)?;
    match socket.write_all(request.as_bytes()) {
        // A client that is refused before its request still gets the reason.
        Err(error) if is_closed(&error) => {}
        Err(error) if is_timeout(&error) => return Err(silent(path, process)),
        written => written.map_err(Failure::System)?,
    }
    let mut answer = BufReader::new(Answer::new(socket, began, limits));
    read(&mut answer).map_err(|failure| match (answer.get_ref().excess(), failure) {
        (Some(excess), _) => Failure::Excess(path.to_owned(), excess),
        (None, Failure::System(error)) if is_timeout(&error) => silent(path, process),
        (None, Failure::System(error)) if is_closed(&error) => Failure::CutOff,
        (None, failure) => failure,
    })
}

/// Returns true if the other end has closed the connection.
fn is_closed(error: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset)
}

/// Connects, until `until` at the latest. Without that limit it would block indefinitely on a
/// stopped process with a full queue of clients.
fn connected(path: &Path, until: Instant) -> Result<UnixStream, Failure> {
    let system = |errno: Errno| Failure::System(errno.into());
    let address = SocketAddrUnix::new(path).map_err(system)?;
    loop {
        let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None);
        let socket = UnixStream::from(socket.map_err(system)?);
        socket.set_nonblocking(true).map_err(Failure::System)?;
        match connect(&socket, &address) {
            Ok(()) => {
                socket.set_nonblocking(false).map_err(Failure::System)?;
                return Ok(socket);
            }
            Err(Errno::AGAIN) if Instant::now() >= until => {
                return Err(silent(path, None));
            }
            Err(Errno::AGAIN | Errno::INTR) => thread::sleep(PAUSE),
            Err(errno) => return Err(unconnected(path, errno.into())),
        }
    }
}

/// Returns the explanation of the silence.
fn silent(path: &Path, process: Option<i32>) -> Failure {
    Failure::Silent(Silence {
        path: path.to_owned(),
        length: Limits::ALL.silence,
        process,
        is_stopped: process.is_some_and(process::is_stopped),
    })
}

fn unconnected(path: &Path, error: io::Error) -> Failure {
    match error.kind() {
        ErrorKind::NotFound => Failure::Nothing(path.to_owned()),
        ErrorKind::ConnectionRefused => Failure::Dead(path.to_owned()),
        ErrorKind::PermissionDenied => Failure::Forbidden(path.to_owned()),
        _ => Failure::System(error),
    }
}

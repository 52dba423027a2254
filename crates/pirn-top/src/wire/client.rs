//! One request, one connection.

#![expect(
    clippy::disallowed_methods,
    reason = "a program of plain threads, which looks at others' fibers"
)]

use std::io::{self, BufReader, ErrorKind, Read, Take, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};

use super::failure::{Failure, Silence};
use super::lines::{Fiber, Snapshot, read};
use super::process;

/// The longest silence before an explanation. A runtime begins its answer at once and writes
/// several times a second; a screen should not stay blank for more than two seconds.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// Interval between two attempts to connect while the queue is full. Arbitrary.
const PAUSE: Duration = Duration::from_millis(20);

/// Maximum bytes of an answer: some millions of fibers.
const LONGEST: u64 = 1 << 30;

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
    exchange(path, request, |socket| {
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).map_err(Failure::System)?;
        read(&mut &answer[..])?;
        Ok(answer)
    })
}

fn ask(path: &Path, request: &str) -> Result<Snapshot, Failure> {
    exchange(path, request, |socket| read(socket))
}

fn exchange<T>(
    path: &Path,
    request: &str,
    read: impl FnOnce(&mut BufReader<Take<UnixStream>>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut socket = connected(path)?;
    let process = process::of_peer(&socket);
    let answered = match socket.write_all(request.as_bytes()) {
        // A client that is refused before its request still gets the reason.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::System(error))
        }
        _ => read(&mut BufReader::new(socket.take(LONGEST))),
    };
    answered.map_err(|failure| match failure {
        Failure::System(error) if is_timeout(&error) => silent(path, process),
        failure => failure,
    })
}

/// Connects within [`PATIENCE`]. Without that limit it would block indefinitely on a stopped
/// process with a full queue of clients.
fn connected(path: &Path) -> Result<UnixStream, Failure> {
    let system = |errno: Errno| Failure::System(errno.into());
    let address = SocketAddrUnix::new(path).map_err(system)?;
    let until = Instant::now() + PATIENCE;
    loop {
        let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None);
        let socket = UnixStream::from(socket.map_err(system)?);
        socket.set_nonblocking(true).map_err(Failure::System)?;
        match connect(&socket, &address) {
            Ok(()) => {
                socket.set_nonblocking(false).map_err(Failure::System)?;
                let limit = Some(PATIENCE);
                socket.set_read_timeout(limit).map_err(Failure::System)?;
                socket.set_write_timeout(limit).map_err(Failure::System)?;
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
        length: PATIENCE,
        process,
        is_stopped: process.is_some_and(process::is_stopped),
    })
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn unconnected(path: &Path, error: io::Error) -> Failure {
    match error.kind() {
        ErrorKind::NotFound => Failure::Nothing(path.to_owned()),
        ErrorKind::ConnectionRefused => Failure::Dead(path.to_owned()),
        ErrorKind::PermissionDenied => Failure::Forbidden(path.to_owned()),
        _ => Failure::System(error),
    }
}

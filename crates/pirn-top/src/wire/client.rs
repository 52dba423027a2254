//! One question, one connection.

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::failure::Failure;
use super::lines::{Fiber, Snapshot, read};

/// How long nothing may come. More than a runtime takes for other clients before this one.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of an answer, at most: some millions of fibers.
const LONGEST: u64 = 1 << 30;

/// Asks for everything, with `most` fibers of each worker.
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

/// Asks for one fiber, with its frames.
///
/// # Errors
/// Why there is no answer.
pub fn ask_fiber(path: &Path, id: &str) -> Result<Fiber, Failure> {
    let mut snapshot = ask(path, &format!("fiber {id}\n"))?;
    let none = || Failure::Nonsense("it has no fiber in it".to_owned());
    snapshot.fibers.pop().ok_or_else(none)
}

fn ask(path: &Path, request: &str) -> Result<Snapshot, Failure> {
    let mut socket =
        UnixStream::connect(path).map_err(|error| unconnected(path, error))?;
    socket
        .set_read_timeout(Some(PATIENCE))
        .map_err(Failure::System)?;
    match socket.write_all(request.as_bytes()) {
        // Whoever is refused unheard is told why all the same.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::System(error))
        }
        _ => read(&mut BufReader::new(socket.take(LONGEST))),
    }
}

fn unconnected(path: &Path, error: io::Error) -> Failure {
    match error.kind() {
        ErrorKind::NotFound => Failure::Nothing(path.to_owned()),
        ErrorKind::ConnectionRefused => Failure::Dead(path.to_owned()),
        ErrorKind::PermissionDenied => Failure::Forbidden(path.to_owned()),
        _ => Failure::System(error),
    }
}

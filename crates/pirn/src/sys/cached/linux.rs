//! Linux: a read that stops where it would have to wait.
//!
//! It may stop in the middle, where other reads of a file do not, or at the end. The size that the
//! system remembers distinguishes the two.

use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::AsFd;

use super::{Cached, Rest};
use crate::sys::calls;

/// Whether the flag works for a file as it was opened: a read with `O_DIRECT` bypasses the system's
/// memory and waits for the disk all the same.
pub(crate) fn may_be_cached(file: &File) -> bool {
    calls::status_flags(file.as_fd()).is_ok_and(|flags| flags & libc::O_DIRECT == 0)
}

/// Reads the data that is in memory, from `at` or from the file's position, which moves. Reads
/// nothing if the system does not support it (a file system without it, a filter, Linux before
/// 4.14), or if the call fails.
pub(crate) fn read_cached(mut file: &File, into: &mut [u8], at: Option<u64>) -> Cached {
    let n = match calls::preadv2(file.as_fd(), into, at, libc::RWF_NOWAIT) {
        Ok(n) => n,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            return Cached {
                n: 0,
                rest: Rest::Away,
            };
        }
        Err(_) => return Cached::UNKNOWN,
    };
    if n == into.len() {
        let rest = Rest::Nothing;
        return Cached { n, rest };
    }
    if n > 0 && at.is_none() {
        // Another thread may move the position: a further read might not continue this one. A file
        // without a position, like a pipe, returns what it has.
        let rest = Rest::Nothing;
        return Cached { n, rest };
    }
    let after = match at {
        Some(at) => Ok(at + n as u64),
        None => file.stream_position(),
    };
    let rest = match after {
        Ok(after) if is_end(file, after) => Rest::Nothing,
        Ok(_) if n > 0 => Rest::Away,
        // The end of a file without a position, or an empty datagram, which has been taken.
        Err(_) => Rest::Nothing,
        // Linux 5.9 and 5.10 return this also for data that is not in memory.
        _ => Rest::Unknown,
    };
    Cached { n, rest }
}

/// Whether a file with a size ends at or before this position. (A file without one, as in `/proc`,
/// has size 0.) File systems that would have to ask a server for the size never report that a read
/// would wait.
fn is_end(file: &File, at: u64) -> bool {
    let known = file.metadata();
    known.is_ok_and(|known| known.is_file() && (1..=at).contains(&known.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeReader, Write, pipe};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixDatagram;

    fn as_file(reader: PipeReader) -> File {
        File::from(OwnedFd::from(reader))
    }

    /// A read that would wait returns at once, and takes nothing.
    // Proves: N5-X-cached.
    #[test]
    fn what_is_not_there_is_not_waited_for() {
        let (reader, mut writer) = pipe().expect("a pipe");
        let file = as_file(reader);
        let mut buffer = [0; 4];
        let nothing = read_cached(&file, &mut buffer, None);
        assert!(nothing.n == 0 && nothing.rest != Rest::Nothing);
        writer.write_all(b"abcdef").expect("a pipe");
        // An old system does not say so of a pipe; then nothing is taken either.
        let some = read_cached(&file, &mut buffer, None);
        assert!(some.n == 0 || &buffer == b"abcd");
        let two = read_cached(&file, &mut buffer, None);
        let rest = Rest::Nothing;
        assert!(two.n == 0 || two == Cached { n: 2, rest });
        // A pipe has no positions, and no file has this one.
        for place in [0, u64::MAX] {
            let read = read_cached(&file, &mut buffer, Some(place));
            assert_eq!(read, Cached::UNKNOWN);
        }
    }

    /// A read that has taken an empty datagram is over: the next one would take the next datagram.
    /// So is one at the end of a pipe. Some systems do not say so, and then take nothing.
    // Proves: N5-X-cached.
    #[test]
    fn what_is_taken_is_returned() {
        let (reader, writer) = pipe().expect("a pipe");
        drop(writer);
        let nothing = Cached {
            n: 0,
            rest: Rest::Nothing,
        };
        let ended = read_cached(&as_file(reader), &mut [0; 4], None);
        assert!(ended == nothing || ended == Cached::UNKNOWN);
        let (one, other) = UnixDatagram::pair().expect("sockets");
        other.send(b"").expect("there is room");
        other.send(b"ab").expect("there is room");
        let file = File::from(OwnedFd::from(one));
        let mut buffer = [0; 4];
        let first = read_cached(&file, &mut buffer, None);
        let second = read_cached(&file, &mut buffer, None);
        assert!(first == nothing || first == Cached::UNKNOWN && second.n == 0);
    }

    /// The end is distinguished from a position with data that would have to be fetched.
    // Proves: N5-X-cached.
    #[test]
    fn only_the_end_is_the_end() {
        let program = std::env::current_exe().expect("a program");
        let program = File::open(program).expect("a program");
        let size = program.metadata().expect("a program").len();
        assert!(is_end(&program, size));
        assert!(!is_end(&program, size - 1));
        let endless = File::open("/proc/self/status").expect("a file without a size");
        assert!(!is_end(&endless, 1));
    }
}

//! Linux: a read that gives up where it would have to wait.
//!
//! It may stop in the middle, where other reads of a file do not, or at the end. The size that the
//! system remembers tells the two apart.

use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::{AsRawFd, RawFd};

use super::{Cached, Rest};

/// Whether the flag counts for a file as it was opened: a read past the system's memory (`O_DIRECT`)
/// waits for the disk all the same.
pub(crate) fn may_be_cached(file: &File) -> bool {
    // SAFETY: a plain call.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    flags != -1 && flags & libc::O_DIRECT == 0
}

/// Reads from `at`, or from the file's position, which moves, what is in memory there. The
/// system may not say (a file system that cannot tell, a filter, Linux before 4.14), or the
/// call may fail: then nothing is read.
pub(crate) fn read_cached(mut file: &File, into: &mut [u8], at: Option<u64>) -> Cached {
    let n = match read(file.as_raw_fd(), into, at) {
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
        // Others may move the position: what came next would not belong to this. And what has none, like a
        // pipe, gives what it has.
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
        // Linux 5.9 and 5.10 say so of what is not in memory, too.
        _ => Rest::Unknown,
    };
    Cached { n, rest }
}

fn read(file: RawFd, into: &mut [u8], at: Option<u64>) -> io::Result<usize> {
    let to = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    // The position of the file is the place -1, in both halves.
    let at = at.map_or(Ok(-1), i64::try_from);
    let at = at.map_err(|_| io::ErrorKind::InvalidInput)?;
    let (low, high) = (at as libc::c_long, (at >> 32) as libc::c_long);
    let flags = libc::RWF_NOWAIT;
    // SAFETY: the call writes into the buffer only, which is ours to be written to.
    let n = unsafe {
        libc::syscall(
            libc::SYS_preadv2,
            file,
            &raw const to,
            1_usize,
            low,
            high,
            flags,
        )
    };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// Whether a file with a size ends before or at this place. (What has no size of its own, as in
/// `/proc`, says 0.) File systems that would have to ask somebody for it tell of no read that
/// it would wait.
fn is_end(file: &File, at: u64) -> bool {
    let known = file.metadata();
    known.is_ok_and(|known| known.is_file() && (1..=at).contains(&known.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeReader, Write, pipe};
    use std::os::fd::OwnedFd;

    fn as_file(reader: PipeReader) -> File {
        File::from(OwnedFd::from(reader))
    }

    /// What would wait is not waited for, and takes nothing.
    #[test]
    fn what_is_not_there_is_not_waited_for() {
        let (reader, mut writer) = pipe().expect("a pipe");
        let file = as_file(reader);
        let mut buffer = [0; 4];
        let nothing = read_cached(&file, &mut buffer, None);
        assert!(nothing.n == 0 && nothing.rest != Rest::Nothing);
        writer.write_all(b"abcdef").expect("a pipe");
        // An old system does not say of a pipe; then nothing is taken either.
        let some = read_cached(&file, &mut buffer, None);
        assert!(some.n == 0 || &buffer == b"abcd");
        let two = read_cached(&file, &mut buffer, None);
        let rest = Rest::Nothing;
        assert!(two.n == 0 || two == Cached { n: 2, rest });
        // A pipe has no places, and no file has this one.
        for place in [0, u64::MAX] {
            let read = read_cached(&file, &mut buffer, Some(place));
            assert_eq!(read, Cached::UNKNOWN);
        }
    }

    /// The end is told from a place where more would have to be fetched.
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

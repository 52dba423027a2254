//! Writes reports to standard error.
//!
//! It bypasses `std`'s lock of standard error, which a fiber may hold while it stalls or waits.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::time::Duration;

use super::calls;
use crate::shim;

/// The most bytes of one system call. A pipe that is writable takes as many at once, on Linux 4096,
/// elsewhere at least 512 (POSIX), unless another writer has filled it meanwhile. A terminal may be
/// writable with less room: then a call waits for its reader.
const MOST: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// How long a stream may take nothing before the rest of a text is lost. Arbitrary: far more than a
/// reader needs, and short for the end of a process.
const PATIENCE: Duration = Duration::from_secs(1);

/// Writes `text` to standard error, or as much of it as is written at once; nothing if the
/// stream is full. Does not wait (see [`MOST`]). It makes one system call, so that reports of several threads do not
/// mix.
pub(crate) fn report(text: &str) {
    let mut end = text.len().min(MOST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if matches!(is_writable(0), Ok(true)) {
        // What cannot be written is lost.
        calls::write(io::stderr().as_fd(), &text.as_bytes()[..end]);
    }
}

/// Writes all of `text` to standard error, a piece at a time. Waits while the stream is full, but
/// gives up if it takes nothing for a second.
pub(crate) fn report_whole(mut text: &[u8]) {
    let mut until = shim::now() + PATIENCE;
    while !text.is_empty() {
        let left = until.saturating_duration_since(shim::now());
        let written = match is_writable(left.as_millis() as i32) {
            Ok(true) => {
                let piece = &text[..text.len().min(MOST)];
                calls::write_some(io::stderr().as_fd(), piece)
            }
            Ok(false) => return,
            Err(error) => Err(error),
        };
        match written {
            Ok(n @ 1..) => {
                text = &text[n..];
                until = shim::now() + PATIENCE;
            }
            Err(error) if may_pass(&error) && !left.is_zero() => {}
            _ => return,
        }
    }
}

/// Waits for this number of milliseconds; true if the stream takes bytes.
fn is_writable(timeout: i32) -> io::Result<bool> {
    let mut asked = [libc::pollfd {
        fd: libc::STDERR_FILENO,
        events: libc::POLLOUT,
        revents: 0,
    }];
    calls::poll(&mut asked, timeout)?;
    Ok(asked[0].revents & libc::POLLOUT != 0)
}

/// True for a failure after which another attempt may succeed.
fn may_pass(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}

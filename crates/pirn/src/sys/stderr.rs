//! Writes reports to standard error from threads that must not block.
//!
//! It bypasses `std`'s lock of standard error, which a stalled fiber may hold. It makes one system
//! call, so that reports of several threads do not mix. It writes nothing while the stream is
//! full, so that the calling thread is not delayed.

use std::io;
use std::os::fd::AsFd;

use super::calls;

/// The most bytes of a report: what a pipe that is writable takes at once.
const MOST: usize = 4096;

/// Writes `text` to standard error, or as much of it as is written at once; nothing if the
/// stream is full. Never waits.
pub(crate) fn report(text: &str) {
    let mut end = text.len().min(MOST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut asked = [libc::pollfd {
        fd: libc::STDERR_FILENO,
        events: libc::POLLOUT,
        revents: 0,
    }];
    if calls::poll(&mut asked, 0).is_ok() && asked[0].revents & libc::POLLOUT != 0 {
        // What cannot be written is lost.
        calls::write(io::stderr().as_fd(), &text.as_bytes()[..end]);
    }
}

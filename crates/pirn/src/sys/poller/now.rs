//! Asking about one source, now.

use std::os::fd::RawFd;

/// Whether reading from it, or else writing to it, would not have to wait.
pub(crate) fn is_ready_now(source: RawFd, to_read: bool) -> bool {
    let events = if to_read { libc::POLLIN } else { libc::POLLOUT };
    let mut question = libc::pollfd {
        fd: source,
        events,
        revents: 0,
    };
    // SAFETY: one question, which is there. A failure is as good as "not now".
    let n = unsafe { libc::poll(&raw mut question, 1, 0) };
    // Errors and the end of everything count, too: an attempt tells.
    n > 0 && question.revents != 0
}

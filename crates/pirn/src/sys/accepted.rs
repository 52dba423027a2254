//! The subject of a failure of accept(2): one connection, the resources of the system, or the
//! listener.

use std::io;
use std::os::fd::BorrowedFd;

/// The subject of a failed accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AcceptFailure {
    /// The next connection, which is gone. Linux reports network errors that are pending on it as
    /// errors of the call (accept(2)). They do not concern later connections.
    Connection,
    /// Descriptors of the process or of the system, or memory: another party may release some.
    Resources,
    /// The listener itself, or the right to accept at all.
    Listener,
}

/// Classifies an error of accept(2) on `listener`.
///
/// `EPERM` is the listener's: accept(2) names firewalls as its source, but kernels of today return
/// it for a policy against the call, which takes no connection from the queue.
pub(crate) fn accept_failure(
    error: &io::Error,
    listener: BorrowedFd<'_>,
) -> AcceptFailure {
    match error.raw_os_error() {
        Some(
            libc::ECONNABORTED
            | libc::ECONNRESET
            | libc::EPROTO
            | libc::ENOPROTOOPT
            | libc::ENETDOWN
            | libc::ENETUNREACH
            | libc::EHOSTDOWN
            | libc::EHOSTUNREACH
            | libc::ETIMEDOUT,
        ) => AcceptFailure::Connection,
        Some(code) if is_no_net(code) => AcceptFailure::Connection,
        // Also the error of a socket that can never accept.
        Some(libc::EOPNOTSUPP) if is_listener(listener) => AcceptFailure::Connection,
        Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM) => {
            AcceptFailure::Resources
        }
        _ => AcceptFailure::Listener,
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_no_net(code: i32) -> bool {
    code == libc::ENONET
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_no_net(_: i32) -> bool {
    false
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_listener(socket: BorrowedFd<'_>) -> bool {
    socket2::SockRef::from(&socket)
        .is_listener()
        .unwrap_or(false)
}

/// Only Linux returns `EOPNOTSUPP` for a connection.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_listener(_: BorrowedFd<'_>) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, UdpSocket};
    use std::os::fd::AsFd as _;

    use super::*;

    fn classified(code: i32, socket: BorrowedFd<'_>) -> AcceptFailure {
        accept_failure(&io::Error::from_raw_os_error(code), socket)
    }

    /// The errors that accept(2) says to treat like EAGAIN concern one connection.
    // Proves: N5-X-faults.
    #[cfg(target_os = "linux")]
    #[test]
    fn errors_of_connections() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        for code in [
            libc::ENETDOWN,
            libc::EPROTO,
            libc::ENOPROTOOPT,
            libc::EHOSTDOWN,
            libc::ENONET,
            libc::EHOSTUNREACH,
            libc::EOPNOTSUPP,
            libc::ENETUNREACH,
            libc::ECONNABORTED,
            libc::ECONNRESET,
            libc::ETIMEDOUT,
        ] {
            let concerns = classified(code, listener.as_fd());
            assert_eq!(concerns, AcceptFailure::Connection, "{code}");
        }
    }

    // Proves: N5-X-faults.
    #[test]
    fn errors_of_the_system_and_of_listeners() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let listener = listener.as_fd();
        for code in [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM] {
            assert_eq!(
                classified(code, listener),
                AcceptFailure::Resources,
                "{code}"
            );
        }
        for code in [libc::EBADF, libc::EINVAL, libc::ENOTSOCK, libc::EPERM] {
            assert_eq!(
                classified(code, listener),
                AcceptFailure::Listener,
                "{code}"
            );
        }
        let other = io::Error::other("of no call");
        assert_eq!(accept_failure(&other, listener), AcceptFailure::Listener);
        // A socket that can never accept is not retried.
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        let concerns = classified(libc::EOPNOTSUPP, datagrams.as_fd());
        assert_eq!(concerns, AcceptFailure::Listener);
    }
}

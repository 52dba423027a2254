//! A socket for processes on the same machine that belong to the same user.
//!
//! Selects the implementation: Unix sockets on Unix; elsewhere, and under the model checkers, an
//! error that says that there are none. A second switch selects how the system is asked for the
//! user of a client.

#[cfg(all(unix, not(any(loom, shuttle))))]
mod place;

#[cfg(all(unix, not(any(loom, shuttle))))]
#[path = "unix.rs"]
#[expect(unsafe_code, reason = "geteuid")]
mod imp;

#[cfg(not(all(unix, not(any(loom, shuttle)))))]
#[path = "none.rs"]
mod imp;

#[cfg(all(
    any(target_os = "linux", target_os = "android"),
    not(any(loom, shuttle))
))]
#[path = "peer_linux.rs"]
#[expect(unsafe_code, reason = "getsockopt")]
mod peer;

#[cfg(all(
    unix,
    not(any(target_os = "linux", target_os = "android", loom, shuttle))
))]
#[path = "peer_unix.rs"]
#[expect(unsafe_code, reason = "getpeereid")]
mod peer;

pub(crate) use imp::{Alarm, LocalClient, LocalListener};

//! Inherited state of the process that std's start-up hides: closed standard streams and ignored
//! signals.
//!
//! [`look`] runs before that start-up, where the system supports it. Elsewhere a closed stream
//! counts as the null device, and no signal as ignored.

use std::fs;
use std::os::fd::{BorrowedFd, IntoRawFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, fcntl_getfd};
use rustix::stdio;

/// Records the ignored signals, and reserves the descriptors of closed streams.
///
/// A closed standard input gets a descriptor that cannot be read, a closed standard output
/// one that cannot be written. Their use fails with `EBADF`, as for closed descriptors, and no file
/// that is opened later gets their numbers.
pub fn look() {
    hold(stdio::stdin(), OFlags::WRONLY);
    hold(stdio::stdout(), OFlags::RDONLY);
    IGNORED.store(ignored_mask(), Ordering::Relaxed);
}

/// Returns true if the process was started with the signal ignored.
pub fn ignores(signal: i32) -> bool {
    IGNORED.load(Ordering::Relaxed) & (1 << (signal - 1)) != 0
}

/// Opens the null device in place of a closed stream. The stream is the lowest free descriptor if
/// those below it are open, so the streams are reserved in order.
fn hold(stream: BorrowedFd<'_>, mode: OFlags) {
    if fcntl_getfd(stream) == Err(Errno::BADF)
        && let Ok(held) = open("/dev/null", mode, Mode::empty())
    {
        let _ = held.into_raw_fd();
    }
}

/// Returns the signals that this process ignores, one bit each; 0 where the system has no `/proc`.
fn ignored_mask() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

static IGNORED: AtomicU64 = AtomicU64::new(0);

//! Accepting connections one after the other, until the caller is interrupted.

use std::io;
use std::time::Duration;

use crate::Interrupt;
use crate::time::sleep;

/// How long to wait for a descriptor when there is none, before the next attempt: the system does
/// not tell when there is one. Arbitrary: 200 attempts a second cost next to nothing.
const STARVED: Duration = Duration::from_millis(5);

/// The state of an iterator over connections.
#[derive(Debug, Default)]
pub(super) struct Accepting {
    over: bool,
}

impl Accepting {
    /// The next connection; an interrupt once, and nothing after it.
    #[track_caller]
    pub(super) fn next<T>(
        &mut self,
        mut accept: impl FnMut() -> io::Result<T>,
    ) -> Option<io::Result<T>> {
        if self.over {
            return None;
        }
        loop {
            let failure = match accept() {
                Ok(connection) => return Some(Ok(connection)),
                Err(failure) => failure,
            };
            if Interrupt::of(&failure).is_some() {
                self.over = true;
                return Some(Err(failure));
            }
            if is_gone(&failure) {
                continue;
            }
            if !is_starved(&failure) {
                return Some(Err(failure));
            }
            if let Err(interrupt) = sleep(STARVED) {
                self.over = true;
                return Some(Err(interrupt.into()));
            }
        }
    }
}

/// The connection has ended while it was waiting.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionAborted
}

/// Something has run out that others may give back: descriptors of the process or of the system,
/// or memory.
fn is_starved(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM)
    )
}

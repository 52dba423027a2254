//! A driver with an owner that the system wakes, too.

use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::Ordering;

use super::driver::Driver;

impl Driver {
    /// Returns a descriptor that acts as [`wake`](Self::wake) when it is written to. It stays open.
    ///
    /// # Errors
    /// The error of the system, for example too many descriptors.
    pub(crate) fn bell(&self) -> io::Result<RawFd> {
        self.made().map(super::platform::Poller::bell)
    }

    /// Sets whether the owner needs a bell, which counts as a source.
    pub(crate) fn listen(&self, yes: bool) {
        match yes {
            true => self.sources.fetch_add(1, Ordering::SeqCst),
            false => self.sources.fetch_sub(1, Ordering::SeqCst),
        };
    }
}

//! A driver whose owner is woken by the system, too.

use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::Ordering;

use super::driver::Driver;

impl Driver {
    /// What to write to, to do as [`wake`](Self::wake). It stays open.
    ///
    /// # Errors
    /// What the system says: the process has too many descriptors, for instance.
    pub(crate) fn bell(&self) -> io::Result<RawFd> {
        self.made().map(super::door::Poller::bell)
    }

    /// Whether the owner asks for a bell: that counts as a source.
    pub(crate) fn listen(&self, yes: bool) {
        match yes {
            true => self.sources.fetch_add(1, Ordering::SeqCst),
            false => self.sources.fetch_sub(1, Ordering::SeqCst),
        };
    }
}

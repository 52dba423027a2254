//! The stand-in for a socket in models.

use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::readiness::{self, Interest, Source};
use crate::shim::Mutex;
use crate::sys::poller::RawSource;

/// A counter that a thread increments and fibers decrement; the system reports its readiness.
#[derive(Debug)]
pub struct Wire {
    source: Source,
    raw: RawSource,
    things: &'static Mutex<usize>,
}

/// The end that is not watched.
#[derive(Debug, Copy, Clone)]
pub struct FarEnd {
    raw: RawSource,
    things: &'static Mutex<usize>,
}

impl Wire {
    /// Returns both ends.
    ///
    /// # Panics
    /// If no source is available.
    #[must_use]
    pub fn new() -> (Wire, FarEnd) {
        Wire::on(Box::leak(Box::default()))
    }

    /// Closes this wire and opens an empty one, which the system knows by the same name.
    ///
    /// # Panics
    /// If no source is available.
    #[must_use]
    pub fn reopen(self) -> (Wire, FarEnd) {
        let raw = self.raw;
        drop(self);
        raw.set_readable(false);
        Wire::on(raw)
    }

    fn on(raw: RawSource) -> (Wire, FarEnd) {
        let things = Box::leak(Box::new(Mutex::new(0)));
        let source = Source::new().expect("a source");
        let wire = Wire {
            source,
            raw,
            things,
        };
        (wire, FarEnd { raw, things })
    }

    /// Fetches the events for the waiters, in place of the worker that should, like the monitor.
    pub fn ask_in_place(&self) {
        self.source.ask_in_place();
    }

    /// Takes one item, and waits for it.
    ///
    /// # Errors
    /// Like a socket's.
    #[track_caller]
    pub fn take(&self, limit: Option<Duration>) -> io::Result<()> {
        let attempt = || self.try_take();
        self.source
            .operate(self.raw, Interest::Readable, limit, attempt, |()| false)
    }

    /// Like [`take`](Self::take), for a future.
    ///
    /// # Errors
    /// Like a socket's.
    pub fn poll_take(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let attempt = || self.try_take();
        self.source
            .poll(self.raw, Interest::Readable, context, attempt, |()| false)
    }

    fn try_take(&self) -> io::Result<()> {
        let mut things = self.things.lock();
        if *things == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        *things -= 1;
        // The remaining items make no event.
        if *things == 0 {
            self.raw.set_readable(false);
        }
        Ok(())
    }
}

impl FarEnd {
    /// Adds one item.
    pub fn put(self) {
        let mut things = self.things.lock();
        *things += 1;
        self.raw.set_readable(true);
    }
}

/// The loop body of the thread that fetches events for waiters without a worker. A model has its
/// own such thread while it runs.
pub fn ask_common() {
    readiness::ask_common();
}

/// Ends an [`ask_common`], the next one if none is running.
pub fn ring_common() {
    readiness::ring_common();
}

//! What models have in place of a socket.

use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::readiness::{self, Interest, Source};
use crate::shim::Mutex;
use crate::sys::poller::RawSource;

/// Something that a thread puts things into and fibers take them out of, told of by the system.
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
    /// Both ends.
    ///
    /// # Panics
    /// If there is no source to be had.
    #[must_use]
    pub fn new() -> (Wire, FarEnd) {
        Wire::on(Box::leak(Box::default()))
    }

    /// Closes this wire and opens another one, with nothing in it, which the system knows by the same
    /// name.
    ///
    /// # Panics
    /// If there is no source to be had.
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

    /// Asks for whoever waits, in place of the worker that should, as the monitor does.
    pub fn ask_in_place(&self) {
        self.source.ask_in_place();
    }

    /// Takes one thing, waiting for it.
    ///
    /// # Errors
    /// As for a socket.
    #[track_caller]
    pub fn take(&self, limit: Option<Duration>) -> io::Result<()> {
        let attempt = || self.try_take();
        self.source
            .operate(self.raw, Interest::Readable, limit, attempt, |()| false)
    }

    /// As [`take`](Self::take), for a future.
    ///
    /// # Errors
    /// As for a socket.
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
        // What is left makes no event.
        if *things == 0 {
            self.raw.set_readable(false);
        }
        Ok(())
    }
}

impl FarEnd {
    /// Puts one thing in.
    pub fn put(self) {
        let mut things = self.things.lock();
        *things += 1;
        self.raw.set_readable(true);
    }
}

/// What the thread does that asks for those who have no worker to: a model has one of its own, for
/// as long as it runs.
pub fn ask_common() {
    readiness::ask_common();
}

/// Ends an [`ask_common`], the next one if there is none.
pub fn ring_common() {
    readiness::ring_common();
}

//! What models have in place of a socket.

use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::readiness::{Interest, Source};
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
        let raw: RawSource = Box::leak(Box::default());
        let things = Box::leak(Box::new(Mutex::new(0)));
        let source = Source::new().expect("a source");
        let wire = Wire {
            source,
            raw,
            things,
        };
        (wire, FarEnd { raw, things })
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
        self.raw.set_readable(*things > 0);
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

//! Other systems: the crate `polling` (kqueue, event ports, epoll), edge-triggered.

use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::time::{Duration, Instant};

use polling::PollMode;

use super::Event;
use crate::shim;

pub(crate) type RawSource = RawFd;

/// Whether events report that a side is closed: not on all systems.
pub(crate) const REPORTS_CLOSED: bool = false;

#[derive(Debug)]
pub(crate) struct Poller {
    poller: polling::Poller,
}

/// Events that have been fetched.
pub(crate) struct Events {
    raw: Option<polling::Events>,
}

impl Events {
    pub(crate) const fn new() -> Events {
        Events { raw: None }
    }

    pub(crate) fn clear(&mut self) {
        if let Some(raw) = &mut self.raw {
            raw.clear();
        }
    }

    /// Returns true: events do not show whether a wake was fetched with them.
    #[expect(clippy::unused_self, reason = "the others' surface")]
    pub(crate) fn may_have_rung(&self) -> bool {
        true
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Event> {
        let events = self.raw.iter().flat_map(polling::Events::iter);
        events.map(|event| {
            let broken = event.is_err() == Some(true) || event.is_interrupt();
            Event {
                token: event.key as u64,
                readable: event.readable || broken,
                writable: event.writable || broken,
                urgent: false,
                read_closed: false,
                write_closed: false,
            }
        })
    }
}

impl Poller {
    /// # Errors
    /// Too many descriptors, or no memory.
    pub(crate) fn new() -> io::Result<Poller> {
        Ok(Poller {
            poller: polling::Poller::new()?,
        })
    }

    pub(crate) fn add(&self, source: RawSource, token: u64) -> io::Result<()> {
        let event = polling::Event::all(token as usize);
        // SAFETY: the owner of a source removes it before closing it.
        unsafe { self.poller.add_with_mode(source, event, PollMode::Edge) }
    }

    /// Reports the readiness of a source once more, and later changes of it.
    #[cfg(target_os = "linux")]
    pub(crate) fn rearm(
        &self,
        source: RawSource,
        token: u64,
        _: (bool, bool),
    ) -> io::Result<()> {
        self.remove(source);
        self.add(source, token)
    }

    pub(crate) fn remove(&self, source: RawSource) {
        // SAFETY: the source is open: see `add`.
        let source = unsafe { BorrowedFd::borrow_raw(source) };
        // Failure: it has been removed already.
        let _ = self.poller.delete(source);
    }

    pub(crate) fn poll(&self, events: &mut Events) {
        self.fetch(events, Some(Duration::ZERO));
    }

    pub(crate) fn wait(&self, events: &mut Events, until: Option<Instant>) {
        let left = until.map(|until| until.saturating_duration_since(shim::now()));
        self.fetch(events, left);
    }

    pub(crate) fn wake(&self) {
        // Failure: it has been woken already.
        let _ = self.poller.notify();
    }

    fn fetch(&self, events: &mut Events, left: Option<Duration>) {
        let events = events.raw.get_or_insert_with(polling::Events::new);
        // Failure: interrupted by a signal, which is treated as no event.
        let _ = self.poller.wait(events, left);
    }
}

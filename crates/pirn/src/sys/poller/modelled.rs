//! No system: sources are wires that a model sets.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use super::Event;
use crate::shim::{Condvar, Mutex};

/// A wire, as a source.
pub(crate) type RawSource = &'static Wire;

pub(crate) const REPORTS_CLOSED: bool = true;

/// A source that can be readable and writable, with the pollers that are notified of a change.
#[derive(Debug, Default)]
pub(crate) struct Wire(Mutex<Ends>);

#[derive(Debug, Default)]
struct Ends {
    readable: bool,
    writable: bool,
    pollers: Vec<(Arc<Queue>, u64)>,
}

#[derive(Debug)]
pub(crate) struct Poller(Arc<Queue>);

#[derive(Debug)]
struct Queue {
    pending: Mutex<Pending>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Pending {
    events: Vec<Event>,
    woken: bool,
}

/// Events that have been fetched.
#[derive(Default)]
pub(crate) struct Events {
    fetched: Vec<Event>,
    rung: bool,
}

#[cfg_attr(
    not(pirn_modelled),
    expect(dead_code, reason = "models pull the wires")
)]
impl Wire {
    /// Makes the wire readable, or not.
    pub(crate) fn set_readable(&self, yes: bool) {
        let mut ends = self.0.lock();
        ends.readable = yes;
        if yes {
            ends.notify();
        }
    }
}

#[cfg(all(test, pirn_parts))]
impl Wire {
    /// Sets the readiness of the wire. If that is more than before, one event reports it.
    pub(crate) fn set(&self, readable: bool, writable: bool) {
        let mut ends = self.0.lock();
        let more = readable && !ends.readable || writable && !ends.writable;
        ends.readable = readable;
        ends.writable = writable;
        if more {
            ends.notify();
        }
    }
}

impl Ends {
    fn notify(&self) {
        for (poller, token) in &self.pollers {
            poller.push(self.event(*token));
        }
    }

    fn event(&self, token: u64) -> Event {
        Event {
            token,
            readable: self.readable,
            writable: self.writable,
            urgent: false,
            read_closed: false,
            write_closed: false,
        }
    }
}

impl Queue {
    fn push(&self, event: Event) {
        self.pending.lock().events.push(event);
        self.changed.notify_all();
    }
}

impl Pending {
    /// As in the system: a wake is one more event, which the thread that polls takes.
    fn fetch(&mut self, events: &mut Events) {
        events.fetched.append(&mut self.events);
        events.rung |= std::mem::take(&mut self.woken);
    }
}

impl Events {
    pub(crate) const fn new() -> Events {
        Events {
            fetched: Vec::new(),
            rung: false,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.fetched.clear();
        self.rung = false;
    }

    pub(crate) fn may_have_rung(&self) -> bool {
        self.rung
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Event> {
        self.fetched.iter().copied()
    }
}

impl Poller {
    /// # Errors
    /// None: no resource can run out.
    #[expect(clippy::unnecessary_wraps, reason = "the others' surface")]
    pub(crate) fn new() -> io::Result<Poller> {
        Ok(Poller(Arc::new(Queue {
            pending: Mutex::new(Pending::default()),
            changed: Condvar::new(),
        })))
    }

    #[expect(clippy::unnecessary_wraps, reason = "the others' surface")]
    pub(crate) fn add(&self, source: RawSource, token: u64) -> io::Result<()> {
        let mut ends = source.0.lock();
        ends.pollers.push((Arc::clone(&self.0), token));
        if ends.readable || ends.writable {
            self.0.push(ends.event(token));
        }
        Ok(())
    }

    pub(crate) fn remove(&self, source: RawSource) {
        let mut ends = source.0.lock();
        let own = |poller: &Arc<Queue>| Arc::ptr_eq(poller, &self.0);
        let tokens: Vec<u64> = ends
            .pollers
            .extract_if(.., |(poller, _)| own(poller))
            .map(|(_, token)| token)
            .collect();
        let mut pending = self.0.pending.lock();
        pending
            .events
            .retain(|event| !tokens.contains(&event.token));
    }

    pub(crate) fn poll(&self, events: &mut Events) {
        self.0.pending.lock().fetch(events);
    }

    pub(crate) fn wait(&self, events: &mut Events, until: Option<Instant>) {
        let mut pending = self.0.pending.lock();
        while pending.events.is_empty() && !pending.woken {
            pending = match until {
                None => self.0.changed.wait(pending),
                Some(until) if until <= crate::shim::now() => break,
                Some(until) => self.0.changed.wait_until(pending, until),
            };
        }
        pending.fetch(events);
    }

    pub(crate) fn wake(&self) {
        self.0.pending.lock().woken = true;
        self.0.changed.notify_all();
    }
}

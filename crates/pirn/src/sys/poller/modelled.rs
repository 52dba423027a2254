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
    registered: Vec<Registered>,
}

/// The registration of a source with a poller.
#[derive(Debug)]
struct Registered {
    poller: Arc<Queue>,
    token: u64,
    /// The sides that are reported: readable, writable.
    sides: (bool, bool),
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

    /// Removes all registrations with their events, as the system does when the last descriptor is
    /// closed.
    #[cfg(target_os = "linux")]
    pub(crate) fn close(&self) {
        let mut ends = self.0.lock();
        (ends.readable, ends.writable) = (false, false);
        for one in ends.registered.drain(..) {
            let mut pending = one.poller.pending.lock();
            pending.events.retain(|event| event.token != one.token);
        }
    }
}

impl Ends {
    fn notify(&self) {
        self.registered.iter().for_each(|one| self.report(one));
    }

    /// Reports the readiness of one registration's sides, if there is any.
    fn report(&self, registered: &Registered) {
        let (reads, writes) = registered.sides;
        let event = Event {
            token: registered.token,
            readable: self.readable && reads,
            writable: self.writable && writes,
            urgent: false,
            read_closed: false,
            write_closed: false,
        };
        if event.readable || event.writable {
            registered.poller.push(event);
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
        self.register(source, token, (true, true));
        Ok(())
    }

    /// As the system: reports the sides once more, and adds a source that was closed.
    #[cfg(target_os = "linux")]
    #[expect(clippy::unnecessary_wraps, reason = "the others' surface")]
    pub(crate) fn rearm(
        &self,
        source: RawSource,
        token: u64,
        sides: (bool, bool),
    ) -> io::Result<()> {
        self.register(source, token, sides);
        Ok(())
    }

    fn register(&self, source: RawSource, token: u64, sides: (bool, bool)) {
        let mut ends = source.0.lock();
        ends.registered
            .retain(|one| !Arc::ptr_eq(&one.poller, &self.0));
        let registered = Registered {
            poller: Arc::clone(&self.0),
            token,
            sides,
        };
        ends.report(&registered);
        ends.registered.push(registered);
    }

    pub(crate) fn remove(&self, source: RawSource) {
        let mut ends = source.0.lock();
        let own = |one: &mut Registered| Arc::ptr_eq(&one.poller, &self.0);
        let removed = ends.registered.extract_if(.., own);
        let tokens: Vec<u64> = removed.map(|one| one.token).collect();
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

//! What is kept of a worker for observers, what it is watched for, and events outside of the
//! workers.

use std::collections::VecDeque;
use std::time::Duration;

use super::event::{Event, Kind};
use super::mask::LogMask;
use super::ring::{CAPACITY, EventRing};
use crate::base::clock;
use crate::fiber::Header;
use crate::shim::Lock;

/// What is watched on a runtime; part of its configuration.
#[derive(Debug, Copy, Clone, Default)]
pub(crate) struct Watch {
    /// Events are kept.
    pub(crate) trace: bool,
    /// Events are logged.
    pub(crate) log: LogMask,
    /// A threshold for stalls was requested by name: reports know the names of fibers.
    pub(crate) slow: Option<Duration>,
    /// A fiber that runs for longer while others wait is reported; `None` if the monitor does not
    /// look.
    pub(crate) stalls: Option<Duration>,
    /// Threads in a stall may be sampled by a signal.
    pub(crate) signals: bool,
    /// The states of fibers are checked at each switch.
    pub(crate) assertions: bool,
}

/// The part of a worker that is kept for its observers.
#[derive(Debug)]
pub(crate) struct Watched {
    /// Present if events are kept. Written by the worker.
    pub(crate) events: Option<Box<EventRing>>,
    /// The identity and the name of the last named fiber that was switched to. Written by the
    /// worker if slow fibers are reported.
    named: Lock<(u64, String)>,
    /// The names of the named fibers, by identity. Written by the worker if events are kept.
    names: Lock<Names>,
}

impl Watched {
    pub(crate) fn new(watch: &Watch) -> Watched {
        Watched {
            events: watch.trace.then(|| Box::new(EventRing::new(CAPACITY))),
            named: Lock::new((0, String::new())),
            names: Lock::new(Names::default()),
        }
    }

    /// Records that `name` runs. Worker only.
    pub(super) fn set_named(&self, header: &Header, name: &str) {
        let mut named = self.named.lock();
        named.0 = header.id();
        named.1.clear();
        named.1.push_str(name);
    }

    /// Returns the name of the fiber with this identity, if it was named last.
    pub(crate) fn name_of(&self, id: u64) -> Option<String> {
        let named = self.named.lock();
        (named.0 == id).then(|| named.1.clone())
    }

    /// Keeps the name of a fiber that starts. Worker only.
    pub(super) fn keep_name(&self, header: &Header, name: &str) {
        let name = (header.id(), name.to_owned());
        let mut names = self.names.lock();
        if names.last.len() == CAPACITY {
            names.last.pop_front();
            names.lost += 1;
        }
        names.last.push_back(name);
    }

    /// Returns the names of the last fibers that have started here, by identity; about as many as
    /// a ring has events at most. In pieces, since the worker waits for the lock meanwhile.
    pub(crate) fn names(&self) -> Vec<(u64, String)> {
        let (mut all, mut next) = (Vec::new(), 0);
        loop {
            let names = self.names.lock();
            // Those before these are lost by now.
            next = names.lost.max(next);
            let piece = names.last.range(next - names.lost..).take(PIECE);
            let read = all.len();
            all.extend(piece.cloned());
            drop(names);
            if all.len() == read || read >= CAPACITY {
                return all;
            }
            next += all.len() - read;
        }
    }
}

/// Names that are copied at a time. Arbitrary: some microseconds.
const PIECE: usize = 128;

/// The names of the last named fibers that have started on a worker, by identity.
#[derive(Debug, Default)]
struct Names {
    last: VecDeque<(u64, String)>,
    /// The number of names that were here before these.
    lost: usize,
}

/// Events of threads that are no workers, on a pool's fibers.
#[derive(Debug)]
pub(crate) struct Outside {
    /// Present if events are kept. One writer at a time.
    events: Option<Lock<EventRing>>,
}

impl Outside {
    pub(crate) fn new(watch: &Watch) -> Outside {
        let ring = || Lock::new(EventRing::new(CAPACITY));
        Outside {
            events: watch.trace.then(ring),
        }
    }

    /// Records that a thread outside has spawned `fiber`, which no other thread has yet.
    #[inline]
    pub(crate) fn record_spawn(&self, header: &Header) {
        if let Some(events) = &self.events {
            let events = events.lock();
            events.record(&Event {
                // Under the lock, so that times are in order.
                time: clock::now(),
                kind: Kind::Spawn,
                detail: 0,
                fiber: header.id(),
                place: Some(header.location()),
            });
        }
    }

    /// As [`EventRing::read`].
    pub(crate) fn read(&self) -> (Vec<Event>, u64) {
        let events = self.events.as_ref();
        events.map_or((Vec::new(), 0), |events| events.lock().read())
    }
}

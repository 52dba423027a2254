//! What others see of a worker that is watched, what it is watched for, and what happens
//! outside of the workers.

use std::time::Duration;

use super::event::{Event, Kind};
use super::log::LogMask;
use super::ring::{CAPACITY, EventRing};
use crate::base::clock;
use crate::fiber::Header;
use crate::shim::Lock;

/// What a runtime is asked to watch; part of its configuration.
#[derive(Debug, Copy, Clone, Default)]
pub(crate) struct Watch {
    /// Events are kept.
    pub(crate) trace: bool,
    /// Events are told.
    pub(crate) log: LogMask,
    /// A threshold for stalls was asked for by name: reports know the names of fibers.
    pub(crate) slow: Option<Duration>,
    /// A fiber that runs for longer while others wait is reported; `None` if the monitor does not look.
    pub(crate) stalls: Option<Duration>,
    /// Threads in a stall may be asked by a signal where they stand.
    pub(crate) signals: bool,
    /// The states of fibers are checked at each switch.
    pub(crate) assertions: bool,
}

/// The part of a worker that is there for whoever watches it.
#[derive(Debug)]
pub(in crate::sched) struct Watched {
    /// There if events are kept. Written by the worker.
    pub(in crate::sched) events: Option<Box<EventRing>>,
    /// The identity and the name of the last fiber with a name that was switched to. Written
    /// by the worker if slow fibers are looked for.
    named: Lock<(u64, String)>,
    /// The names of the fibers that have one, by identity. Written by the worker if events
    /// are kept.
    names: Lock<Vec<(u64, String)>>,
}

impl Watched {
    pub(in crate::sched) fn new(watch: &Watch) -> Watched {
        Watched {
            events: watch.trace.then(|| Box::new(EventRing::new(CAPACITY))),
            named: Lock::new((0, String::new())),
            names: Lock::new(Vec::new()),
        }
    }

    /// Notes that `name` runs. Worker only.
    pub(super) fn set_named(&self, header: &Header, name: &str) {
        let mut named = self.named.lock();
        named.0 = header.id();
        named.1.clear();
        named.1.push_str(name);
    }

    /// The name of the fiber with this identity, if it is the one that was named last.
    pub(in crate::sched) fn name_of(&self, id: u64) -> Option<String> {
        let named = self.named.lock();
        (named.0 == id).then(|| named.1.clone())
    }

    /// Keeps the name of a fiber that starts. Worker only.
    pub(super) fn keep_name(&self, header: &Header, name: &str) {
        let mut names = self.names.lock();
        if names.len() < CAPACITY {
            names.push((header.id(), name.to_owned()));
        }
    }

    /// The names of the fibers that have started here, by identity; at most as many as
    /// there are events in a ring.
    pub(in crate::sched) fn names(&self) -> Vec<(u64, String)> {
        self.names.lock().clone()
    }
}

/// What threads that are no workers have done to a pool's fibers.
#[derive(Debug)]
pub(in crate::sched) struct Outside {
    /// There if events are kept. One writer at a time.
    events: Option<Lock<EventRing>>,
}

impl Outside {
    pub(in crate::sched) fn new(watch: &Watch) -> Outside {
        let ring = || Lock::new(EventRing::new(CAPACITY));
        Outside {
            events: watch.trace.then(ring),
        }
    }

    /// A thread outside has spawned `fiber`, which nobody else has yet.
    #[inline]
    pub(in crate::sched) fn saw_spawn(&self, header: &Header) {
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
    pub(in crate::sched) fn read(&self) -> (Vec<Event>, u64) {
        let events = self.events.as_ref();
        events.map_or((Vec::new(), 0), |events| events.lock().read())
    }
}

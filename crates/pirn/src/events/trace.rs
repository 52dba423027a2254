//! The conditions that one worker is watched for, and the target of its events.
//!
//! Owns: the byte `watch`, the record of an event in the ring and in the log, and the count of
//! dispatches until a run is timed. Does not own: the places of events
//! (`sched::worker::hooks`).

use std::cell::Cell;

use super::chan;
use super::event::{Event, Kind};
use super::log::{Origin, log_event};
use super::mask::LogMask;
use super::watched::{Watch, Watched};
use crate::base::clock;
use crate::fiber::FiberPtr;

/// Events are kept in the ring.
const TRACE: u8 = 1;
/// Events are logged on standard error.
const LOG: u8 = 2;
/// The monitor reads the name of the fiber that runs.
const SLOW: u8 = 4;
/// The state words of fibers are checked.
const ASSERT: u8 = 8;

/// The conditions that a worker is watched for.
pub(crate) struct Trace {
    /// Flags; zero if the worker is not watched.
    watch: Cell<u8>,
    /// Categories of events that are logged.
    log: LogMask,
    /// The dispatches left until maintenance, while a watched fiber runs.
    round_left: Cell<u32>,
    /// Dispatches until a run is timed.
    until_sample: Cell<u32>,
}

impl Trace {
    pub(crate) fn new(watch: &Watch) -> Trace {
        Trace {
            watch: Cell::new(flags(watch)),
            log: watch.log,
            round_left: Cell::new(0),
            until_sample: Cell::new(0),
        }
    }

    /// True if the worker is watched.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.watch.get() != 0
    }

    /// Makes maintenance due when the watched fiber returns.
    #[inline(always)]
    pub(crate) fn forget_round(&self) {
        self.round_left.set(0);
    }

    /// Keeps the dispatches that are left until maintenance, while a watched fiber runs.
    pub(crate) fn keep_round(&self, left: u32) {
        self.round_left.set(left);
    }

    /// Returns the dispatches that are left until maintenance, after a watched fiber has run.
    pub(crate) fn round_left(&self) -> u32 {
        self.round_left.get()
    }

    /// True if the next run is timed.
    #[inline(always)]
    pub(crate) fn is_sample_due(&self) -> bool {
        self.until_sample.get() == 0
    }

    /// Sets the dispatches until the next timed run.
    pub(crate) fn set_until_sample(&self, dispatches: u32) {
        self.until_sample.set(dispatches);
    }

    /// Counts a round of dispatches towards the next sample.
    pub(crate) fn count_to_sample(&self, dispatches: u32) {
        let left = self.until_sample.get().saturating_sub(dispatches);
        self.until_sample.set(left);
    }

    /// Records that something has happened to `fiber` on the worker `origin`, which is watched. Its
    /// observers read `watched`. On the worker's thread.
    pub(crate) fn observe(
        &self,
        watched: &Watched,
        origin: Origin<'_>,
        kind: Kind,
        fiber: FiberPtr,
        detail: u32,
    ) {
        let watch = self.watch.get();
        if watch & ASSERT != 0 && (kind.leaves() || kind == Kind::Run) {
            fiber.header().state.assert_sound(kind == Kind::Park);
        }
        if watch & SLOW != 0 {
            show_name(watched, kind, fiber);
        }
        if watch & (TRACE | LOG) != 0 {
            self.record_and_log(watched, origin, kind, fiber, detail);
        }
    }

    fn record_and_log(
        &self,
        watched: &Watched,
        origin: Origin<'_>,
        kind: Kind,
        fiber: FiberPtr,
        detail: u32,
    ) {
        let header = fiber.header();
        let event = Event {
            time: clock::now(),
            kind,
            detail,
            fiber: header.id(),
            place: Some(header.location()),
        };
        // A waker may name a fiber of another worker; this worker may not read the label of that
        // one.
        let name = match kind {
            Kind::Wake => None,
            _ => header.name(),
        };
        if let Some(events) = &watched.events {
            events.record(&event);
            if kind == Kind::Start
                && let Some(name) = name
            {
                watched.keep_name(header, name);
            }
        }
        if self.log.intersects(event.categories()) {
            log_event(origin, &event, name);
        }
        if self.log.intersects(LogMask::CHAN) {
            chan::log_step(origin, kind, fiber);
        }
    }

    /// Logs that `fiber`, which runs on the worker `origin`, has closed the channel at this
    /// address.
    #[cold]
    pub(crate) fn saw_close(&self, origin: Origin<'_>, fiber: FiberPtr, channel: usize) {
        if self.log.intersects(LogMask::CHAN) {
            chan::log_close(origin, fiber, channel);
        }
    }
}

/// Returns the byte of a worker that is watched as `watch` says.
fn flags(watch: &Watch) -> u8 {
    let log = if watch.log.is_empty() { 0 } else { LOG };
    u8::from(watch.trace) * TRACE
        + log
        + u8::from(watch.slow.is_some()) * SLOW
        + u8::from(watch.assertions) * ASSERT
}

/// Publishes the name of the running fiber for the monitor.
fn show_name(watched: &Watched, kind: Kind, fiber: FiberPtr) {
    if kind == Kind::Run
        && let Some(name) = fiber.header().name()
    {
        watched.set_named(fiber.header(), name);
    }
}

//! The hooks: calls of a worker where something happens to a fiber.
//!
//! Where a fiber is spawned or woken, and where fibers move between workers, a hook is a test of
//! the worker's byte `watch`; the rest is out of line. Where fibers switch to each other there is
//! none. A worker that is watched, or is about to time a run, has every fiber return to the
//! worker's own stack ([`Worker::dispatch_watched`]), by the same counter that ends a round for
//! maintenance. So a switch from fiber to fiber costs the same as without hooks.

use std::cell::Cell;
use std::time::Duration;

use super::event::{Event, Kind};
use super::log::{LogMask, log_event};
use super::watched::Watch;
use crate::base::clock;
use crate::base::diagnostics_enabled::TELLS;
use crate::fiber::FiberPtr;
use crate::fiber::current::Local;
use crate::report::fiber_info;
use crate::sched::placement::lines::{RunEnd, Tag};
use crate::sched::worker::intervals::MAINTENANCE_INTERVAL;
use crate::sched::worker::run::Worker;
use crate::shim;

/// Events are kept in the ring.
const TRACE: u8 = 1;
/// Events are logged on standard error.
const LOG: u8 = 2;
/// The monitor reads the name of the fiber that runs.
const SLOW: u8 = 4;
/// The state words of fibers are checked.
const ASSERT: u8 = 8;

/// One run of this many is timed: four rounds. PERF: two clock reads and a way back to the worker's
/// stack are 300 instructions, 1 % of this many yields (bench guard).
const SAMPLES: u32 = 4 * MAINTENANCE_INTERVAL;

/// What a worker is watched for.
pub(in crate::sched) struct Trace {
    /// Flags; zero if the worker is not watched.
    watch: Cell<u8>,
    /// The dispatches left until maintenance, while a watched fiber runs.
    round_left: Cell<u32>,
    /// Dispatches until a run is timed.
    until_sample: Cell<u32>,
}

impl Trace {
    pub(in crate::sched) fn new(watch: &Watch) -> Trace {
        Trace {
            watch: Cell::new(flags(watch)),
            round_left: Cell::new(0),
            until_sample: Cell::new(0),
        }
    }

    /// Makes maintenance due when the watched fiber returns.
    #[inline(always)]
    pub(in crate::sched) fn forget_round(&self) {
        self.round_left.set(0);
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

impl Worker {
    /// Records that something has happened to `fiber` on this worker.
    #[inline(always)]
    pub(in crate::sched) fn record(&self, kind: Kind, fiber: FiberPtr) {
        if TELLS && self.trace.watch.get() != 0 {
            self.observe(kind, fiber, 0);
        }
    }

    /// As [`record`](Self::record), with a further number.
    #[inline(always)]
    pub(in crate::sched) fn record_with(
        &self,
        kind: Kind,
        fiber: FiberPtr,
        detail: usize,
    ) {
        if TELLS && self.trace.watch.get() != 0 {
            self.observe(kind, fiber, detail as u32);
        }
    }

    #[cold]
    #[inline(never)]
    fn observe(&self, kind: Kind, fiber: FiberPtr, detail: u32) {
        let watch = self.trace.watch.get();
        if watch & ASSERT != 0 && (kind.leaves() || kind == Kind::Run) {
            fiber.header().state.assert_sound(kind == Kind::Park);
        }
        if watch & SLOW != 0 {
            self.show_name(kind, fiber);
        }
        if watch & (TRACE | LOG) != 0 {
            self.tell(kind, fiber, detail);
        }
    }

    /// True if the next fiber that the worker switches to is to return here.
    #[inline(always)]
    pub(in crate::sched) fn watches(&self) -> bool {
        TELLS && (self.trace.watch.get() != 0 || self.trace.until_sample.get() == 0)
    }

    /// Runs `fiber`, which has just been boarded and is `fresh` if it has never run, by `switch`,
    /// and handles its return.
    #[cold]
    pub(in crate::sched) fn dispatch_watched(
        &self,
        local: &Local,
        fiber: FiberPtr,
        fresh: bool,
        switch: impl FnOnce(),
    ) {
        // A fiber that finds nothing left of the round switches to the worker.
        self.trace.round_left.set(self.maintenance.make_due());
        if fresh {
            self.record(Kind::Start, fiber);
        }
        self.record(Kind::Run, fiber);
        let timed = self.trace.until_sample.get() == 0;
        let began = timed.then(shim::now);
        switch();
        // Another one if its stack has passed to another fiber (`succeed`).
        let fiber = local.fiber().unwrap_or(fiber);
        local.set_fiber(None);
        self.maintenance.set_left(self.trace.round_left.get());
        let ran = began.map(|began| shim::now() - began);
        ran.inspect(|ran| self.keep_sample(*ran));
        let left = local.take_left();
        // LIVENESS: only this worker could resume it, so it is where it has stopped; one that may
        // migrate is not parked yet.
        let reason = fiber_info::reason(fiber);
        // A first run is short if the fiber must wait for its work, whatever work that is.
        if let Some(ran) = ran
            && !fresh
            && !matches!(left, Some((_, None)))
        {
            let end = match reason {
                Some(reason) if reason.is_for_a_fiber() => RunEnd::ForAFiber,
                None if local.is_spent() => RunEnd::Budget,
                _ => RunEnd::Other,
            };
            self.sample_line(fiber, ran, end);
        }
        if let Some((_, None)) = left {
            self.record(Kind::Done, fiber);
        } else if let Some(reason) = reason {
            self.record_with(Kind::Park, fiber, reason as usize);
        } else {
            self.record(Kind::Yield, fiber);
        }
        if let Some((fiber, wish)) = left {
            self.after_switch(local, fiber, wish);
        }
    }

    fn keep_sample(&self, ran: Duration) {
        let ran = u64::try_from(ran.as_nanos()).unwrap_or(u64::MAX);
        self.trace.until_sample.set(SAMPLES);
        let counters = &self.remote().counters;
        counters.run_samples.increment();
        counters.run_nanos.add(ran);
        counters.run_nanos_max.raise_to(ran);
    }

    /// Records a timed run of a fiber that has not ended, for its spawn line.
    fn sample_line(&self, fiber: FiberPtr, ran: Duration, end: RunEnd) {
        let tag = Tag(fiber.header().placement.get());
        if tag.0 != 0 {
            let ran = u64::try_from(ran.as_nanos()).unwrap_or(u64::MAX);
            self.pool.lines.sampled(tag, ran, end);
        }
    }

    /// Counts a round of dispatches towards the next sample.
    pub(in crate::sched) fn count_to_sample(&self, dispatches: u32) {
        let left = self.trace.until_sample.get().saturating_sub(dispatches);
        self.trace.until_sample.set(left);
    }

    fn tell(&self, kind: Kind, fiber: FiberPtr, detail: u32) {
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
        let watched = &self.remote().watched;
        if let Some(events) = &watched.events {
            events.record(&event);
            if kind == Kind::Start
                && let Some(name) = name
            {
                watched.keep_name(header, name);
            }
        }
        let pool = &self.pool;
        if pool.config.watch.log.intersects(event.categories()) {
            log_event(pool.name(), self.index, &event, name);
        }
        if pool.logs(LogMask::CHAN) {
            self.log_step(kind, fiber);
        }
    }

    /// Publishes the name of the running fiber for the monitor.
    fn show_name(&self, kind: Kind, fiber: FiberPtr) {
        if kind == Kind::Run
            && let Some(name) = fiber.header().name()
        {
            self.remote().watched.set_named(fiber.header(), name);
        }
    }

    /// The worker has woken up: the monitor watches the runs from now on, if configured.
    pub(in crate::sched) fn waking(&self) {
        if self.pool.watches_runs() {
            self.pool.monitor.watch_stalls();
        }
    }
}

//! The hooks: calls of a worker where something happens to a fiber.
//!
//! Owns: which events there are, and the runs that are timed. Does not own: the record of an event
//! (`events`).
//!
//! Where a fiber is spawned or woken, and where fibers move between workers, a hook is a test of
//! the worker's byte `watch`; the rest is out of line. Where fibers switch to each other there is
//! none. A worker that is watched, or is about to time a run, has every fiber return to the
//! worker's own stack ([`Worker::dispatch_watched`]), by the same counter that ends a round for
//! maintenance. So a switch from fiber to fiber costs the same as without hooks.

use std::time::Duration;

use crate::base::diagnostics_enabled::KEEPS_REPORT_DATA;
use crate::events::{Kind, Origin};
use crate::fiber::FiberPtr;
use crate::fiber::current::Local;
use crate::report::fiber_info;
use crate::sched::placement::lines::{PlacementTag, RunEnd};
use crate::sched::worker::records::intervals::MAINTENANCE_INTERVAL;
use crate::sched::worker::run::Worker;
use crate::shim;

/// One run of this many is timed: four rounds. PERF: two clock reads and a way back to the worker's
/// stack are 300 instructions, 1 % of this many yields (bench guard).
const SAMPLES: u32 = 4 * MAINTENANCE_INTERVAL;

impl Worker {
    /// Records that something has happened on this worker to `fiber`, which is the caller's (H2).
    #[inline(always)]
    pub(in crate::sched) fn record(&self, kind: Kind, fiber: FiberPtr) {
        if KEEPS_REPORT_DATA && self.trace.is_on() {
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
        if KEEPS_REPORT_DATA && self.trace.is_on() {
            self.observe(kind, fiber, detail as u32);
        }
    }

    #[cold]
    #[inline(never)]
    fn observe(&self, kind: Kind, fiber: FiberPtr, detail: u32) {
        let watched = &self.remote().watched;
        self.trace
            .observe(watched, self.origin(), kind, fiber, detail);
    }

    /// Logs that `fiber`, which runs here, has closed the channel at this address.
    #[cold]
    pub(in crate::sched) fn saw_close(&self, fiber: FiberPtr, channel: usize) {
        self.trace.saw_close(self.origin(), fiber, channel);
    }

    /// Returns the name of this worker in the log.
    fn origin(&self) -> Origin<'_> {
        Origin {
            runtime: self.pool.name(),
            worker: self.index,
        }
    }

    /// True if the next fiber that the worker switches to is to return here.
    #[inline(always)]
    pub(in crate::sched) fn watches(&self) -> bool {
        KEEPS_REPORT_DATA && (self.trace.is_on() || self.trace.is_sample_due())
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
        self.trace.keep_round(self.maintenance.make_due());
        if fresh {
            self.record(Kind::Start, fiber);
        }
        self.record(Kind::Run, fiber);
        let timed = self.trace.is_sample_due();
        let began = timed.then(shim::now);
        switch();
        // Another one if its stack has passed to another fiber (`succeed`).
        let fiber = local.fiber().unwrap_or(fiber);
        local.set_fiber(None);
        self.maintenance.set_left(self.trace.round_left());
        let ran = began.map(|began| shim::now() - began);
        ran.inspect(|ran| self.keep_sample(*ran));
        let left = local.take_left();
        // LIVENESS: only this worker could resume it, so it is where it has stopped; one that may
        // migrate is not parked yet.
        // SAFETY: it has left its stack, and for the reason above only this worker could let it run.
        let reason = unsafe { fiber_info::reason(fiber) };
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
        if let Some((fiber, after)) = left {
            self.after_switch(local, fiber, after);
        }
    }

    fn keep_sample(&self, ran: Duration) {
        let ran = u64::try_from(ran.as_nanos()).unwrap_or(u64::MAX);
        self.trace.set_until_sample(SAMPLES);
        let counters = &self.remote().counters;
        counters.run_samples.increment();
        counters.run_nanos.add(ran);
        counters.run_nanos_max.raise_to(ran);
    }

    /// Records a timed run of a fiber that has not ended, for its spawn line.
    fn sample_line(&self, fiber: FiberPtr, ran: Duration, end: RunEnd) {
        let tag = PlacementTag(fiber.header().placement.get());
        if tag.0 != 0 {
            let ran = u64::try_from(ran.as_nanos()).unwrap_or(u64::MAX);
            self.pool.lines.sampled(tag, ran, end);
        }
    }

    /// The worker has woken up: the monitor watches the runs from now on, if configured.
    pub(in crate::sched) fn waking(&self) {
        if self.pool.watches_runs() {
            self.pool.monitor.watch_stalls();
        }
    }
}

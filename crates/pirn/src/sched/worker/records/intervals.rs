//! Intervals: how long fibers run here between two switches, as a moving average, and the decisions
//! based on it: how often to look at the injector, how much queued work is surplus.
//!
//! Measured by one clock read for each round of [`MAINTENANCE_INTERVAL`] dispatches, never per
//! dispatch.

use std::cell::Cell;

/// Dispatches between two rounds of maintenance (timers, inbox, own shard): as in Tokio and Go, a
/// prime so that it does not fall in step with the fibers' own periods.
pub(in crate::sched) const MAINTENANCE_INTERVAL: u32 = 61;

/// Dispatches of the first round after a sleep; each of the following rounds has twice as many. A
/// pool of few fibers with long runs would complete a round of [`MAINTENANCE_INTERVAL`] too late.
pub(in crate::sched) const MAINTENANCE_AFTER_SLEEP: u32 = 4;

/// Work that would take this long is worth another worker's wake-up: a futex wake across cores
/// costs 30–60 µs on virtual machines.
pub(in crate::sched) const SURPLUS: u64 = 50_000;

/// The least time between two requests for jobs by a worker without work, in nanoseconds: a hundred
/// times the cost of one more job for the worker that is asked.
pub(in crate::sched) const ASK: u64 = 20_000;

/// How long a worker that has done a job watches for the next one before it sleeps, in nanoseconds:
/// the cost of waking it again (see [`SURPLUS`]).
pub(in crate::sched) const EXPECT: u64 = 50_000;

/// Jobs that took less together, in nanoseconds, were not worth waking a worker for them.
pub(in crate::sched) const WORTH: u64 = 10_000;

/// Jobs that take less on average, in nanoseconds, are asked for with pauses ([`ASK`]), and not
/// watched for. A small multiple of the cost of a job for both sides: with frames of 10 µs, which
/// are divided into jobs of 1 µs, 15 µs otherwise.
pub(in crate::sched) const JOB: u64 = 4_000;

/// The longest that a queued fiber should wait behind local work before the injector is looked at,
/// or before a fiber that completes one operation after the other yields. Arbitrary within Tokio's
/// and Go's range; no measurement yet.
const INJECTOR_LATENCY: u64 = 200_000;

/// The average run of one fiber, in nanoseconds.
pub(in crate::sched) struct Intervals {
    run: Cell<u64>,
    round_began: Cell<u64>,
}

impl Intervals {
    pub(in crate::sched) fn new(now: u64) -> Intervals {
        Intervals {
            run: Cell::new(1_000),
            round_began: Cell::new(now),
        }
    }

    /// Records `dispatches` that ended at `now`.
    pub(in crate::sched) fn round(&self, dispatches: u32, now: u64) {
        let spent = now.saturating_sub(self.round_began.replace(now));
        let sample = spent / u64::from(dispatches.max(1));
        // A weight of one quarter; at least a nanosecond, so that a product is never zero.
        self.run.set(((self.run.get() * 3 + sample) / 4).max(1));
    }

    /// Skips the time up to `now`: the worker did not run fibers meanwhile.
    pub(in crate::sched) fn resume(&self, now: u64) {
        self.round_began.set(now);
    }

    /// Dispatches between two looks at the injector.
    pub(in crate::sched) fn injector_interval(&self) -> u32 {
        (INJECTOR_LATENCY / self.run.get()).clamp(2, 127) as u32
    }

    /// True if fibers compute for so long that one that has the choice yields: the switch costs a
    /// thousandth of a run.
    pub(in crate::sched) fn is_slow(&self) -> bool {
        self.run.get() >= INJECTOR_LATENCY
    }

    /// True if `queued` fibers are more than one worker should keep to itself.
    #[inline]
    pub(in crate::sched) fn is_surplus(&self, queued: usize) -> bool {
        (queued as u64).saturating_mul(self.run.get()) >= SURPLUS
    }
}

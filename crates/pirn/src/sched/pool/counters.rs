//! Counters: what each worker has done, written by the worker with plain stores and read by any
//! thread.

use std::fmt;
use std::time::Duration;

use crate::base::diagnostics_enabled::KEEPS_REPORT_DATA;
use crate::base::mutant::or_relaxed;
use crate::shim::atomic::{AtomicU64, AtomicUsize, Ordering};

/// One number that one thread counts and any thread may read.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds one. Owner only: a load and a store, no read-modify-write.
    #[inline(always)]
    pub(crate) fn increment(&self) {
        self.add(1);
    }

    /// Adds `n`. Owner only.
    #[inline(always)]
    pub(crate) fn add(&self, n: u64) {
        // ORDERING: Release: a reader that sees fiber X counted as completed and then reads
        // the spawned counters (Acquire) sees X counted as spawned too.
        let release = or_relaxed!(Ordering::Release, "counter_relaxed");
        self.0.store(self.0.load(Ordering::Relaxed) + n, release);
    }

    /// Raises it to `n` if it is less. Owner only.
    pub(in crate::sched) fn raise_to(&self, n: u64) {
        // ORDERING: Relaxed: no reader draws conclusions from it.
        if n > self.0.load(Ordering::Relaxed) {
            self.0.store(n, Ordering::Relaxed);
        }
    }

    /// Adds one from any thread.
    pub(crate) fn increment_shared(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        // ORDERING: pairs with the Release store in `add`.
        self.0.load(Ordering::Acquire)
    }
}

/// A number that only reports read, otherwise like [`Counter`].
#[derive(Debug, Default)]
pub(crate) struct Tally(Counter);

impl Tally {
    /// Adds one. Owner only.
    #[inline(always)]
    pub(crate) fn increment(&self) {
        self.add(1);
    }

    /// Adds `n`. Owner only.
    #[inline(always)]
    pub(crate) fn add(&self, n: u64) {
        if KEEPS_REPORT_DATA {
            self.0.add(n);
        }
    }

    /// Raises it to `n` if it is less. Owner only.
    pub(in crate::sched) fn raise_to(&self, n: u64) {
        self.0.raise_to(n);
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.get()
    }
}

/// Workers that were woken for the pool, and not for one of its workers.
#[derive(Debug, Default)]
pub(in crate::sched) struct WakeCounts {
    /// By the monitor, because work had aged.
    pub(in crate::sched) aged: Counter,
    /// For fibers from outside or moved to the injector, or because the number of threads changed.
    pub(in crate::sched) outside: Counter,
    /// Lost wakes that the monitor made up for.
    pub(in crate::sched) rescues: Counter,
}

/// A level that one thread raises and lowers and any thread may read.
#[derive(Debug, Default)]
pub(in crate::sched) struct Gauge(AtomicUsize);

impl Gauge {
    /// Adds `n`, which may be 0 or -1 as well. Owner only: a load and a store.
    #[inline(always)]
    pub(in crate::sched) fn add(&self, n: isize) {
        let level = self.0.load(Ordering::Relaxed).wrapping_add_signed(n);
        self.0.store(level, Ordering::Relaxed);
    }

    pub(in crate::sched) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

macro_rules! counters {
    (
        sums { $($(#[doc = $doc:literal])* $name:ident: $kind:ty,)* }
        peaks { $($(#[doc = $peak_doc:literal])* $peak:ident,)* }
    ) => {
        /// The live counters of one worker.
        #[derive(Debug, Default)]
        pub(crate) struct WorkerCounters {
            $(pub(crate) $name: $kind,)*
            $(pub(crate) $peak: Tally,)*
        }

        /// The counters of a runtime, or of one of its workers, since it started.
        ///
        /// Each worker counts for itself, by plain stores, so a number may be old, but is never
        /// wrong. At any time `remote_wakes <= fiber_wakes <= fiber_parks` (where fibers may
        /// migrate, of all workers together and at rest only) and `steals <= steal_attempts`. In
        /// the total of a runtime without fibers, `spawned == completed`, `fiber_wakes ==
        /// fiber_parks`, `started <= dispatched`, `next_hits <= dispatched`, `steals <= stolen`,
        /// `unparks <= wakes`.
        ///
        /// | name elsewhere | name here |
        /// |---|---|
        /// | tasks submitted, total spawned | `spawned` |
        /// | tasks completed | `completed` |
        /// | polls, total polled, context switches | `dispatched` |
        /// | LIFO hits, donations | `next_hits` |
        /// | steal attempts, steal successes, total stolen | `steal_attempts`, `steals`, `stolen` |
        /// | global batch fetches, inject pulls | `injector_batches` |
        /// | inject queue overflows | `overflows` |
        /// | park events, unpark events (of workers) | `parks`, `unparks` |
        /// | total parked (of tasks) | `fiber_parks` |
        /// | average, maximum run ticks | [`run_average`](Counters::run_average), `run_nanos_max` |
        /// | positive, negative pressure samples | `surplus_found`, `surplus_missed` |
        /// | gate passes, promotions | `wakes` |
        ///
        /// # Examples
        /// ```
        /// let runtime = pirn::Runtime::builder().workers(1).build()?;
        /// runtime.run(pirn::yield_now);
        /// let total = runtime.metrics().total;
        /// assert_eq!(total.spawned, 1);
        /// assert!(total.dispatched >= 1);
        /// # Ok::<(), std::io::Error>(())
        /// ```
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counters {
            $($(#[doc = $doc])* pub $name: u64,)*
            $($(#[doc = $peak_doc])* pub $peak: u64,)*
        }

        impl WorkerCounters {
            /// Returns the present values; not those of one moment. If one counter is never more
            /// than another, it is declared first, and so read first.
            pub(crate) fn read(&self) -> Counters {
                Counters {
                    $($name: self.$name.get(),)*
                    $($peak: self.$peak.get(),)*
                }
            }
        }

        impl Counters {
            /// Adds another worker's counters to these.
            pub(crate) fn merge(&mut self, other: &Counters) {
                $(self.$name += other.$name;)*
                $(self.$peak = self.$peak.max(other.$peak);)*
            }

            /// Calls `f` with every counter: its name, whether it only grows, its value.
            pub(crate) fn each(&self, mut f: impl FnMut(&'static str, bool, u64)) {
                $(f(stringify!($name), true, self.$name);)*
                $(f(stringify!($peak), false, self.$peak);)*
            }

            /// The documentation of the counters, in the order of [`each`](Counters::each).
            #[cfg(feature = "prometheus")]
            pub(crate) const HELP: &[&str] = &[
                $(concat!($($doc),*),)*
                $(concat!($($peak_doc),*),)*
            ];
        }
    };
}

// The order matters (`WorkerCounters::read`). Relations are in the doc of `Counters`, and in
// `always` of tests/it/counters.rs.
counters! {
    sums {
        /// Fibers spawned.
        spawned: Counter,
        /// Fibers that have ended.
        completed: Counter,
        /// Times a fiber was switched to.
        dispatched: Counter,
        /// Fibers run for the first time, and so settled here.
        started: Counter,
        /// Times another thread ended the wait of a parked fiber; a part of `fiber_wakes`.
        remote_wakes: Tally,
        /// Times the wait of a parked fiber was ended, as its worker has noticed.
        fiber_wakes: Tally,
        /// Times a fiber stopped running to wait.
        fiber_parks: Tally,
        /// Dispatches out of the `next` slot.
        next_hits: Tally,
        /// Sweeps over the other workers that found work.
        steals: Tally,
        /// Sweeps over the other workers in search of work.
        steal_attempts: Tally,
        /// Fibers taken in sweeps over the other workers, `next` slots included.
        stolen: Tally,
        /// Batches fetched from the injector.
        injector_batches: Tally,
        /// Times half of a full ring was moved to the injector.
        overflows: Tally,
        /// Fresh fibers handed to another worker, because of what their spawn line has done or
        /// because the worker had more than its share.
        placed_elsewhere: Tally,
        /// Times the queue here was worth another worker's wake-up when it was looked at.
        surplus_found: Tally,
        /// Times the queue here was not worth another worker's wake-up when it was looked at.
        surplus_missed: Tally,
        /// Times the worker went to sleep.
        parks: Tally,
        /// Times the worker came back because it had been woken for work that others could take.
        unparks: Tally,
        /// Sleeping workers that the worker woke for work that others could take.
        wakes: Tally,
        /// Fibers that had to wait for a stack.
        stack_waits: Tally,
        /// Fibers among `stack_waits` that got a stack beyond `max_stacks`, since another fiber
        /// waited for their end.
        loans: Tally,
        /// Runs of fibers that were timed: about one of 250.
        run_samples: Tally,
        /// The total length of the timed runs, each from one switch to the next, in nanoseconds.
        run_nanos: Tally,
        /// Safety nets that had to act; anything but zero is a bug of the runtime.
        rescues: Counter,
    }
    peaks {
        /// The length of the longest timed run, in nanoseconds.
        run_nanos_max,
    }
}

impl Counters {
    /// Returns how long a fiber runs on average from one switch to the next, by the timed runs;
    /// `None` before the first.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let runtime = pirn::Runtime::builder().workers(1).build()?;
    /// runtime.run(|| (0..1_000).for_each(|_| pirn::yield_now()));
    /// let average = runtime.metrics().total.run_average();
    /// assert!(average.is_none_or(|average| average < Duration::from_secs(1)));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "mean_poll_time")]
    #[must_use]
    pub fn run_average(&self) -> Option<Duration> {
        let average = self.run_nanos.checked_div(self.run_samples)?;
        Some(Duration::from_nanos(average))
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut result = Ok(());
        self.each(|name, _, value| {
            if result.is_ok() {
                result = writeln!(f, "{name:<24}{value}");
            }
        });
        result
    }
}

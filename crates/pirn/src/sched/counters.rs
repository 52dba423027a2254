//! Counters: what each worker has done, written by the worker with plain stores and read by
//! anyone who asks.

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

/// A level that one thread raises and lowers and any thread may read.
#[derive(Debug, Default)]
pub(super) struct Gauge(AtomicUsize);

impl Gauge {
    /// Adds `n`, which may be 0 or -1 as well. Owner only: a load and a store.
    #[inline(always)]
    pub(super) fn add(&self, n: isize) {
        let level = self.0.load(Ordering::Relaxed).wrapping_add_signed(n);
        self.0.store(level, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The live counters of one worker.
        #[derive(Debug, Default)]
        pub(crate) struct WorkerCounters {
            $(pub(crate) $name: Counter,)*
        }

        /// What a runtime, or one of its workers, has done since it started.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl WorkerCounters {
            /// The present values; not one moment in time.
            pub(crate) fn read(&self) -> Counters {
                Counters { $($name: self.$name.get(),)* }
            }
        }

        impl Counters {
            /// Adds another worker's counters to these.
            pub(crate) fn merge(&mut self, other: &Counters) {
                $(self.$name += other.$name;)*
            }
        }

        impl std::fmt::Display for Counters {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $(writeln!(f, "{:<24}{}", stringify!($name), self.$name)?;)*
                Ok(())
            }
        }
    };
}

counters! {
    /// Fibers spawned.
    spawned,
    /// Fibers that have ended.
    completed,
    /// Times a fiber was switched to.
    dispatched,
    /// Fibers run for the first time, and so settled here.
    started,
    /// Dispatches out of the `next` slot.
    next_hits,
    /// Sweeps over the other workers in search of work.
    steal_attempts,
    /// Sweeps that found some.
    steals,
    /// Fibers taken in those sweeps, `next` slots included.
    stolen,
    /// Batches fetched from the injector.
    injector_batches,
    /// Times half of a full ring was moved to the injector.
    overflows,
    /// Fibers handed to the injector because this worker had more than its share.
    placed_elsewhere,
    /// Wakes received from other threads.
    remote_wakes,
    /// Times the worker went to sleep.
    parks,
    /// Sleeping workers that this one woke for work that others could take.
    wakes,
    /// Fibers that had to wait for a stack.
    stack_waits,
    /// Safety nets that had to act; anything but zero is a bug of the runtime.
    rescues,
}

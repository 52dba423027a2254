//! Programs with a known bug each, and without it.
//!
//! The same text runs on fibers and on shuttle (`cargo xtask bench sim`): all that it uses of
//! either is in `prelude`. Each fiber is joined. A program fails by a panic or by a deadlock.

use std::sync::atomic::Ordering::SeqCst;

use super::prelude::{self, AtomicUsize};

mod channels;
mod kernels;
mod planted;
mod wakes;

/// A program; `body` is called with false for the bug, and with true for the fix.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// The number of runs within which a campaign is to find the bug.
    pub(crate) most: u64,
    pub(crate) body: fn(bool),
}

macro_rules! programs {
    ($($group:ident::$name:ident within $most:literal,)*) => {
        [$(Program {
            name: concat!(stringify!($group), "::", stringify!($name)),
            most: $most,
            body: $group::$name,
        }),*]
    };
}

/// The programs of each file.
pub(crate) const ALL: [Program; 22] = programs! {
    planted::lost_update_over_channels within 1_000,
    planted::lost_update_over_two_sections within 1_000,
    planted::locks_in_two_orders within 1_000,
    planted::five_philosophers within 1_000,
    planted::needle within 3_000,
    planted::three_in_one_order within 1_000,
    planted::replicated_log within 1_000,
    wakes::ticket_apart_from_the_claim within 300,
    wakes::wake_before_the_park within 300,
    wakes::flag_of_the_waiters within 500,
    channels::two_ways_to_the_end within 300,
    wakes::tokio_2134 within 500,
    wakes::tokio_5396 within 1_000,
    wakes::tokio_3168 within 500,
    channels::crossbeam_1187 within 2_000,
    channels::rust_39364 within 1_000,
    kernels::cockroach_10214 within 50,
    kernels::moby_28462 within 100,
    kernels::kubernetes_6632 within 100,
    kernels::grpc_1353 within 100,
    kernels::etcd_7492 within 300,
    kernels::serving_2137 within 1_000,
};

/// An atomic word.
#[derive(Default)]
struct Word(AtomicUsize);

impl Word {
    fn load(&self) -> usize {
        self.0.load(SeqCst)
    }

    fn store(&self, value: usize) {
        self.0.store(value, SeqCst);
    }

    fn swap(&self, value: usize) -> usize {
        self.0.swap(value, SeqCst)
    }

    /// Adds, wraps around, and returns the value before.
    fn add(&self, value: usize) -> usize {
        self.0.fetch_add(value, SeqCst)
    }

    /// Replaces `current` by `new`; if it has another value, returns false.
    fn exchange(&self, current: usize, new: usize) -> bool {
        let result = self.0.compare_exchange(current, new, SeqCst, SeqCst);
        result.is_ok()
    }
}

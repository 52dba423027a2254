//! The list of floors and the child that measures them.

use crate::child::sample;

use super::{compute, wakes};

/// One floor.
#[derive(Clone, Copy, Debug)]
pub struct Floor {
    /// The name in limits and tables.
    pub name: &'static str,
    /// The description.
    pub title: &'static str,
    measure: fn() -> f64,
}

/// Measures all in turn, several times, and prints every sample.
pub fn run() {
    for _ in 0..5 {
        for floor in FLOORS {
            sample(floor.name, (floor.measure)());
        }
    }
}

/// All floors, in nanoseconds.
pub const FLOORS: &[Floor] = &[
    Floor {
        name: "plain call",
        title: "a call that is not inlined",
        measure: compute::plain_call,
    },
    Floor {
        name: "read-modify-write",
        title: "an uncontended `fetch_add`",
        measure: compute::read_modify_write,
    },
    Floor {
        name: "clock read",
        title: "`Instant::now`",
        measure: compute::clock_read,
    },
    Floor {
        name: "switch pair",
        title: "resume and suspend of a bare corosensei coroutine",
        measure: compute::switch_pair,
    },
    Floor {
        name: "page fault",
        title: "the first touch of a page of anonymous memory",
        measure: compute::page_fault,
    },
    Floor {
        name: "cache line",
        title: "a cache line to another thread and back",
        measure: wakes::cache_line,
    },
    Floor {
        name: "futex wake",
        title: "from `FUTEX_WAKE` to the sleeper's next step, p50",
        measure: wakes::futex,
    },
    Floor {
        name: "eventfd wake",
        title: "from a write to an eventfd to the return of `epoll_wait`, p50",
        measure: wakes::eventfd,
    },
];

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

const fn floor(name: &'static str, title: &'static str, measure: fn() -> f64) -> Floor {
    Floor {
        name,
        title,
        measure,
    }
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
    floor(
        "plain call",
        "a call that is not inlined",
        compute::plain_call,
    ),
    floor(
        "read-modify-write",
        "an uncontended `fetch_add`",
        compute::read_modify_write,
    ),
    floor("clock read", "`Instant::now`", compute::clock_read),
    floor(
        "switch pair",
        "resume and suspend of a bare corosensei coroutine",
        compute::switch_pair,
    ),
    floor(
        "page fault",
        "the first touch of a page of anonymous memory",
        compute::page_fault,
    ),
    floor(
        "cache line",
        "a cache line to another thread and back",
        wakes::cache_line,
    ),
    floor(
        "futex wake",
        "from `FUTEX_WAKE` to the sleeper's next step, p50",
        wakes::futex,
    ),
    floor(
        "eventfd wake",
        "from a write to an eventfd to the return of `epoll_wait`, p50",
        wakes::eventfd,
    ),
];

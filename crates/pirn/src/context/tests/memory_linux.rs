//! The cost of many stacks in memory and in mappings, as Linux counts them. Not under a sanitizer,
//! which counts its own memory as well.

use super::alone::alone;
use super::pool::{can_read, touch};
use super::ride::Ride;
use crate::base::tests::unmeasured::unmeasured;
use crate::context::os::{self, Guarding};
use crate::context::{OutOfStacks, StackConfig, StackPool};

const KIB: usize = 1024;

fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps")
        .unwrap()
        .lines()
        .count()
}

/// Parks `count` fibers at once, each on a stack of `size` bytes, then lets them end.
fn park(count: usize, size: usize) {
    let config = StackConfig {
        size,
        max_stacks: count,
        cache: 1_000,
    };
    let pool = StackPool::new(config).unwrap();
    let before = mappings();
    let mut rides: Vec<Ride> = (0..count)
        .map(|_| {
            let mut ride = Ride::new(pool.take().unwrap(), |sides| sides.pause());
            assert!(ride.resume());
            ride
        })
        .collect();
    // The record and the first frames share the page at the top.
    assert!(rides.iter().all(|ride| ride.stack().touched() <= 4096));
    assert!(
        mappings() - before < 200,
        "{} mappings",
        mappings() - before
    );
    assert!(rides.iter_mut().all(|ride| !ride.resume()));
    rides.into_iter().for_each(|ride| pool.give(ride.finish()));
    assert_eq!(pool.in_use(), 0);
}

// Proves: M5.
#[test]
fn more_fibers_than_mappings_park_at_once() {
    alone(
        concat!(module_path!(), "::more_fibers_than_mappings_park_at_once"),
        || {
            let many = if os::guarding() == Guarding::Install {
                40_000
            } else {
                2_000
            };
            park(many, 256 * 1024);
        },
    );
}

// Proves: M5.
#[test]
#[ignore = "takes 5 GB of memory"]
fn a_million_fibers_park_at_once() {
    assert_eq!(os::guarding(), Guarding::Install);
    for size in [64 * 1024, 256 * 1024] {
        let start = crate::shim::now();
        park(1_000_000, size);
        println!(
            "1,000,000 stacks of {size} bytes: {:?}",
            crate::shim::now() - start
        );
    }
}

#[test]
fn without_mappings_to_spare_there_is_an_error_and_a_way_on() {
    let path = concat!(
        module_path!(),
        "::without_mappings_to_spare_there_is_an_error_and_a_way_on"
    );
    alone(path, || {
        let config = StackConfig {
            size: 16 * 1024,
            max_stacks: 1_000_000,
            cache: 0,
        };
        let pool = StackPool::with_guarding(config, Guarding::Protect).unwrap();
        let mut stacks = Vec::with_capacity(1_000_000);
        let error = loop {
            match pool.take() {
                Ok(stack) => stacks.push(stack),
                Err(error) => break error,
            }
        };
        let count = stacks.len();
        assert_eq!(pool.in_use(), count);
        pool.give(stacks.pop().unwrap());
        stacks.push(pool.take().expect("one has come back"));
        assert!(pool.take().is_err());
        stacks.into_iter().for_each(|stack| pool.give(stack));
        println!("{count} stacks, then: {error}");
        assert_eq!(
            error,
            OutOfStacks::System {
                errno: libc::ENOMEM
            }
        );
    });
}

// Proves: M3.
#[test]
fn memory_falls_after_a_burst() {
    const STACKS: usize = 10_000;
    fn resident() -> usize {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
        pages * 4 * KIB
    }
    alone(
        concat!(module_path!(), "::memory_falls_after_a_burst"),
        || {
            let pool = super::ride::pool(STACKS);
            let mut stacks = Vec::with_capacity(STACKS);
            let before = resident();
            while let Ok(stack) = pool.take() {
                touch(&stack, 20 * KIB);
                stacks.push(stack);
            }
            let burst = resident() - before;
            assert!(burst > STACKS * 20 * KIB, "the burst took {burst}");
            stacks.into_iter().for_each(|stack| pool.give(stack));
            let left = resident().saturating_sub(before);
            println!("{burst} bytes in the burst, {left} after it");
            assert!(left < burst / 10, "{left} of {burst} left");
        },
    );
}

#[test]
fn locked_memory_has_guards_too() {
    alone(
        concat!(module_path!(), "::locked_memory_has_guards_too"),
        || {
            // Where a process may not lock that much, the pool uses as much as it may.
            // SAFETY: concerns memory that is yet to be mapped.
            let locked = unsafe { libc::mlockall(libc::MCL_FUTURE | libc::MCL_ONFAULT) };
            if locked != 0 {
                unmeasured("may not lock memory");
            }
            let pool = super::ride::pool(8);
            let stacks: Vec<_> = (0..8).map(|_| pool.take().unwrap()).collect();
            for stack in &stacks {
                assert!(
                    !can_read(stack.range().start - 1) && can_read(stack.range().start)
                );
            }
            stacks.into_iter().for_each(|stack| pool.give(stack));
        },
    );
}

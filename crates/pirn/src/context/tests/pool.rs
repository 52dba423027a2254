//! The pool: its bound, its sizes, which stacks stay warm and which pages are discarded.

use std::collections::HashSet;
use std::sync::Arc;

use super::ride::{Ride, pool};
use crate::context::os::Guarding;
use crate::context::{OutOfStacks, Stack, StackConfig, StackPool};
use crate::shim::{Mutex, thread};

const KIB: usize = 1024;

pub(super) fn touch(stack: &Stack, bytes: usize) {
    let range = stack.range();
    let bytes = bytes.min(range.len());
    let start = std::ptr::with_exposed_provenance_mut::<u8>(range.end - bytes);
    // SAFETY: usable memory of a stack that nothing runs on.
    unsafe { start.write_bytes(0xa5, bytes) };
}

#[test]
fn the_bound_counts_all_sizes_and_says_so() {
    let pool = pool(3);
    let first = pool.take().unwrap();
    let second = pool.take_sized(64 * KIB).unwrap();
    let third = pool.take_sized(MIB).unwrap();
    assert_eq!(pool.in_use(), 3);
    for refused in [pool.take(), pool.take_sized(64 * KIB)] {
        let error = refused.unwrap_err();
        assert_eq!(error, OutOfStacks::Cap { max: 3 });
        assert_eq!(
            error.to_string(),
            "out of stacks: all 3 that Builder::max_stacks allows are in use"
        );
    }
    pool.give(second);
    let again = pool.take().unwrap();
    [first, third, again]
        .into_iter()
        .for_each(|stack| pool.give(stack));
    assert_eq!(pool.in_use(), 0);
}

const MIB: usize = 1024 * KIB;

#[test]
fn what_the_system_refuses_is_an_error_with_its_reason() {
    let pool = pool(3);
    let error = pool.take_sized(isize::MAX as usize / 4).unwrap_err();
    assert!(matches!(error, OutOfStacks::System { .. }));
    let text = error.to_string();
    assert!(text.contains("Cannot allocate memory"), "{text}");
    assert!(text.contains("vm.max_map_count"), "{text}");
    assert_eq!(pool.in_use(), 0);
    pool.give(pool.take().unwrap());
    let config = StackConfig {
        size: usize::MAX,
        max_stacks: 1,
        cache: 1,
    };
    let error = StackPool::new(config).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn stacks_have_their_size_and_do_not_overlap() {
    for guarding in [crate::context::os::guarding(), Guarding::Protect] {
        let config = StackConfig {
            size: 64 * KIB,
            max_stacks: 1_000,
            cache: 4,
        };
        let pool = StackPool::with_guarding(config, guarding).unwrap();
        let sizes = [16 * KIB, 64 * KIB, 100 * KIB, 2 * MIB];
        let mut stacks = Vec::new();
        for round in 0..50 {
            for size in sizes {
                let stack = pool.take_sized(size).unwrap();
                assert!(stack.size() <= size && stack.size() > size - 3 * KIB);
                assert!(stack.range().end.is_multiple_of(64));
                touch(&stack, if round % 10 == 0 { size } else { 1 });
                stacks.push(stack);
            }
        }
        let mut ranges: Vec<_> = stacks.iter().map(Stack::range).collect();
        ranges.sort_by_key(|range| range.start);
        for pair in ranges.windows(2) {
            assert!(pair[0].end + 64 <= pair[1].start, "{pair:x?}");
        }
        stacks.into_iter().for_each(|stack| pool.give(stack));
    }
}

#[test]
fn different_slots_start_at_different_offsets() {
    let pool = pool(64);
    let stacks: Vec<_> = (0..64).map(|_| pool.take().unwrap()).collect();
    let offsets: HashSet<_> = stacks.iter().map(|s| s.range().end % 4096).collect();
    assert_eq!(offsets.len(), 32);
    stacks.into_iter().for_each(|stack| pool.give(stack));
}

#[test]
fn the_stack_that_came_last_goes_first() {
    let pool = pool(4);
    let (first, second) = (pool.take().unwrap(), pool.take().unwrap());
    let (low, high) = (first.range(), second.range());
    pool.give(first);
    pool.give(second);
    let again = pool.take().unwrap();
    assert_eq!(again.range(), high);
    let other = pool.take().unwrap();
    assert_eq!(other.range(), low);
    pool.give(again);
    pool.give(other);
}

#[test]
fn a_warm_stack_keeps_its_pages_and_a_cold_one_does_not() {
    let config = StackConfig {
        size: 256 * KIB,
        max_stacks: 8,
        cache: 1,
    };
    let pool = StackPool::new(config).unwrap();
    let (cold, warm) = (pool.take().unwrap(), pool.take().unwrap());
    let cold_range = cold.range();
    touch(&cold, 100 * KIB);
    touch(&warm, 100 * KIB);
    assert!(warm.touched() >= 100 * KIB && warm.touched() <= 108 * KIB);
    pool.give(cold);
    pool.give(warm);
    let warm = pool.take().unwrap();
    assert!(warm.touched() >= 100 * KIB);
    let cold = pool.take().unwrap();
    assert_eq!(
        cold.range(),
        cold_range,
        "the lowest cold slot is used again"
    );
    assert!(
        cold.touched() <= 4 * KIB,
        "only the record's page came back"
    );
    pool.give(warm);
    pool.give(cold);
}

#[test]
fn guards_trap_whichever_way_they_are_made() {
    for guarding in [crate::context::os::guarding(), Guarding::Protect] {
        let config = StackConfig {
            size: 64 * KIB,
            max_stacks: 300,
            cache: 4,
        };
        let pool = StackPool::with_guarding(config, guarding).unwrap();
        let stacks: Vec<_> = (0..200).map(|_| pool.take().unwrap()).collect();
        for stack in &stacks {
            let start = stack.range().start;
            assert!(!can_read(start - 1), "{guarding:?}");
            assert!(!can_read(start - 4096), "{guarding:?}");
            assert!(can_read(start), "{guarding:?}");
        }
        stacks.into_iter().for_each(|stack| pool.give(stack));
        // After they are returned and taken again, also cold, they still trap.
        let stacks: Vec<_> = (0..200).map(|_| pool.take().unwrap()).collect();
        assert!(
            stacks
                .iter()
                .all(|stack| !can_read(stack.range().start - 1))
        );
        stacks.into_iter().for_each(|stack| pool.give(stack));
    }
}

/// Makes the kernel read the byte, so that a trap is an error and not a signal.
pub(super) fn can_read(address: usize) -> bool {
    let mut ends = [0; 2];
    // SAFETY: room for two ends.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    let from = std::ptr::with_exposed_provenance(address);
    // SAFETY: the kernel checks the address.
    let written = unsafe { libc::write(ends[1], from, 1) };
    for end in ends {
        // SAFETY: opened above.
        unsafe { libc::close(end) };
    }
    written == 1
}

#[test]
fn threads_take_and_give_across_each_other() {
    const THREADS: usize = 4;
    const ROUNDS: usize = 20_000;
    let pool = Arc::new(pool(THREADS * 8));
    let (send, receive) = std::sync::mpsc::channel::<Stack>();
    let receive = Arc::new(Mutex::new(receive));
    let workers: Vec<_> = (0..THREADS)
        .map(|number| {
            let (pool, send) = (Arc::clone(&pool), send.clone());
            let receive = Arc::clone(&receive);
            thread::spawn(format!("worker {number}"), move || {
                for round in 0..ROUNDS {
                    match pool.take() {
                        Ok(stack) if round % 3 == 0 => send.send(stack).unwrap(),
                        Ok(stack) => {
                            touch(&stack, 1);
                            pool.give(stack);
                        }
                        Err(error) => assert!(matches!(error, OutOfStacks::Cap { .. })),
                    }
                    if let Ok(stack) = receive.lock().try_recv() {
                        pool.give(stack);
                    }
                }
            })
            .unwrap()
        })
        .collect();
    workers
        .into_iter()
        .for_each(|worker| worker.join().unwrap());
    drop(send);
    receive.lock().iter().for_each(|stack| pool.give(stack));
    assert_eq!(pool.in_use(), 0);
}

#[test]
fn a_pool_that_is_dropped_leaves_fibers_their_stacks() {
    let dropped = pool(1);
    let mut ride = Ride::new(dropped.take().unwrap(), |sides| sides.pause());
    assert!(ride.resume());
    drop(dropped);
    assert!(!ride.resume(), "the stack is still there");
    drop(ride.finish());
}

//! Code on another stack: beside the caller's frames, and on top of a suspended context's.
//!
//! A test named `seeded_…` plants a bug there, which the sanitizer must report.

use std::cell::Cell;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::ride::{Ride, pool};
use crate::context::{call_on_stack, visit};

/// Returns the address of a frame of the caller; a sanitizer may keep variables elsewhere.
#[inline(never)]
fn here() -> usize {
    crate::context::stack_pointer()
}

/// Uses some stack, and reads all of it again.
#[inline(never)]
fn frames(depth: usize) -> usize {
    let frame = black_box([depth; 64]);
    let below = if depth > 0 { frames(depth - 1) } else { 0 };
    black_box(&frame).iter().sum::<usize>() / 64 + below
}

/// Runs `f` on top of the frames of a fiber that has paused; then the fiber ends.
fn visited(f: &mut dyn FnMut()) {
    let pool = pool(1);
    let mut ride = Ride::new(pool.take().unwrap(), |sides| {
        let mine = black_box([7_usize; 256]);
        sides.pause();
        assert!(black_box(&mine).iter().all(|word| *word == 7));
    });
    assert!(ride.resume());
    let range = ride.stack().range();
    // SAFETY: the fiber is suspended, and no other code resumes it.
    assert!(unsafe { visit(ride.context(), range, f) });
    pool.give(ride.finish());
}

#[test]
fn a_visit_is_on_the_stack_of_the_fiber() {
    for _ in 0..20 {
        let own = here();
        let (there, sum) = (Cell::new(0), Cell::new(0));
        visited(&mut || {
            there.set(here());
            sum.set(frames(20));
        });
        assert_eq!(sum.get(), 210);
        assert!(there.get().abs_diff(own) > 16 << 10);
    }
}

#[test]
fn a_call_on_another_stack_returns_or_unwinds() {
    let pool = pool(1);
    let mut stack = pool.take().unwrap();
    let range = stack.range();
    for round in 0..20 {
        let place = call_on_stack(&mut stack, || (here(), frames(20)));
        assert!(range.contains(&place.0) && place.1 == 210);
        assert!(!range.contains(&here()));
        let raised = catch_unwind(AssertUnwindSafe(|| {
            let mine = black_box([round; 64]);
            call_on_stack(&mut stack, || {
                assert_eq!(frames(20), 210);
                // A panic that ends there, and one that does not.
                assert!(catch_unwind(|| panic!("inner")).is_err());
                assert!(round > 100, "outer");
            });
            black_box(mine)[3]
        }));
        assert!(raised.is_err());
        assert_eq!(frames(40), 820);
    }
    pool.give(stack);
}

/// A fiber that pauses in such a call has its frames there, and resumes there.
#[test]
fn a_fiber_pauses_aside() {
    let pool = pool(2);
    let mut stack = pool.take().unwrap();
    let mut ride = Ride::new(pool.take().unwrap(), move |sides| {
        for _ in 0..10 {
            let mine = black_box([7_usize; 64]);
            let sum = call_on_stack(&mut stack, || {
                let beside = black_box([8_usize; 64]);
                sides.pause();
                frames(20) + black_box(&beside)[1]
            });
            assert_eq!(sum + black_box(&mine)[2], 225);
            sides.pause();
        }
    });
    while ride.resume() {
        assert_eq!(frames(30), 465);
    }
    drop(ride.finish());
}

#[cfg(pirn_asan)]
mod seeded {
    use super::*;

    /// Writes past the end of an array in its frame.
    fn overrun() {
        let mut array = black_box([0_u8; 16]);
        let end = black_box(16);
        // SAFETY: none: this is the bug.
        unsafe { array.as_mut_ptr().add(end).write_volatile(1) };
        black_box(array);
    }

    fn leak() {
        black_box(Box::leak(vec![7_u8; 1_000].into_boxed_slice()).len());
    }

    fn on_another_stack(f: fn()) {
        let pool = pool(1);
        let mut stack = pool.take().unwrap();
        call_on_stack(&mut stack, f);
        pool.give(stack);
    }

    #[test]
    #[ignore = "ends with a report"]
    fn seeded_overrun_aside() {
        on_another_stack(overrun);
    }

    #[test]
    #[ignore = "ends with a report"]
    fn seeded_leak_aside() {
        on_another_stack(leak);
    }

    #[test]
    #[ignore = "ends with a report"]
    fn seeded_overrun_in_a_visit() {
        visited(&mut overrun);
    }

    #[test]
    #[ignore = "ends with a report"]
    fn seeded_leak_in_a_visit() {
        visited(&mut leak);
    }
}

#[cfg(pirn_tsan)]
mod seeded {
    use std::cell::UnsafeCell;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    struct Shared(UnsafeCell<usize>);
    // SAFETY: none: this is the bug.
    unsafe impl Sync for Shared {}

    /// Runs `f` on two threads, each of which writes to one value on another stack.
    fn race(f: fn(&mut dyn FnMut())) {
        let shared = Shared(UnsafeCell::new(0));
        let arrived = AtomicUsize::new(0);
        let (shared, arrived) = (&shared, &arrived);
        std::thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(move || {
                    f(&mut || {
                        arrived.fetch_add(1, Ordering::Relaxed);
                        while arrived.load(Ordering::Relaxed) < 2 {
                            std::hint::spin_loop();
                        }
                        for _ in 0..1_000 {
                            // SAFETY: none: this is the bug.
                            unsafe { *shared.0.get() += 1 };
                        }
                    });
                });
            }
        });
    }

    #[test]
    #[ignore = "ends with a report"]
    fn seeded_race_aside() {
        race(|f| {
            let pool = pool(1);
            let mut stack = pool.take().unwrap();
            call_on_stack(&mut stack, f);
            pool.give(stack);
        });
    }

    #[test]
    #[ignore = "ends with a report"]
    fn seeded_race_between_visits() {
        race(visited);
    }
}

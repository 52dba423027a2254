//! Captures and results of fibers: of any size and alignment, and dropped once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pirn::spawn::JoinError;
use pirn::{JoinHandle, Runtime};

use crate::executor_kind::runtime;
use crate::util::Drops;

/// Closures and results of any size and alignment arrive intact.
// Proves: M8.
#[test]
fn captures_and_results_of_any_size_and_alignment() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    #[repr(align(64))]
    struct Line([u8; 64]);
    #[derive(Clone, Copy, PartialEq, Debug)]
    #[repr(align(4096))]
    struct Page([u8; 4096]);
    #[derive(Clone, Copy, PartialEq, Debug)]
    #[repr(align(256))]
    struct Nothing;

    #[track_caller]
    fn there_and_back<V: Copy + PartialEq + std::fmt::Debug + Send + 'static>(value: V) {
        let fiber = pirn::spawn(move || {
            assert_eq!(std::ptr::from_ref(&value).addr() % align_of::<V>(), 0);
            pirn::yield_now();
            value
        });
        assert_eq!(fiber.join().unwrap(), value);
    }
    // All of these frames belong to one function, and a sanitizer adds padding around each.
    let runtime = Runtime::builder().workers(2).stack_size(1 << 20).build();
    runtime.unwrap().run(|| {
        there_and_back(());
        there_and_back(7_u8);
        there_and_back([1_u64; 8]);
        there_and_back([2_u64; 9]);
        there_and_back([3_u8; 320]);
        there_and_back([4_u8; 321]);
        there_and_back([5_u8; 832]);
        there_and_back([6_u8; 833]);
        there_and_back([7_u8; 4096]);
        there_and_back([8_u8; 8_000]);
        there_and_back(Line([9; 64]));
        there_and_back([Line([10; 64]); 3]);
        there_and_back(Page([11; 4096]));
        there_and_back(Nothing);
    });
}

/// Results of every size are returned intact.
// Proves: H-10.
#[test]
fn results_of_any_size() {
    fn sized<const N: usize>() {
        let fiber = pirn::spawn(|| std::array::from_fn::<u8, N, _>(|i| i as u8));
        let result = fiber.join().unwrap();
        assert!(result.iter().enumerate().all(|(i, byte)| *byte == i as u8));
    }
    runtime(1).run(|| {
        sized::<0>();
        sized::<1>();
        sized::<48>();
        sized::<64>();
        sized::<65>();
        sized::<320>();
        sized::<832>();
        sized::<1_000>();
        sized::<4_096>();
    });
}

/// A closure's captures are dropped exactly once: after it ran, while it panics, or unrun; so
/// is its result, taken or not.
// Proves: M8.
#[test]
fn captures_and_results_are_dropped_exactly_once() {
    let drops = Drops::default();
    let runtime = runtime(2);
    let expect = |what: &str, n: usize| assert_eq!(drops.count(), n, "{what}");

    let capture = drops.one();
    runtime.spawn(move || drop(capture)).join().unwrap();
    expect("a capture that the closure drops", 1);

    let capture = drops.one();
    let fiber = runtime.spawn(move || {
        let _capture = capture;
        panic!("on purpose");
    });
    assert!(fiber.join().is_err());
    expect("a capture that a panic drops", 2);

    let result = drops.one();
    let kept = runtime.spawn(move || result).join().unwrap();
    expect("a result in the joiner's hands", 2);
    drop(kept);
    expect("a result that was joined", 3);

    let result = drops.one();
    let fiber = runtime.spawn(move || result);
    fiber.wait().unwrap();
    expect("a result that waits for its joiner", 3);
    drop(fiber);
    expect("a result, its handle dropped after the end", 4);

    let result = drops.one();
    runtime.spawn(move || result).detach();
    runtime.wait_idle().unwrap();
    expect("a result, its handle dropped before the end", 5);

    let large = (drops.one(), [0_u8; 5_000]);
    runtime.spawn(move || large).detach();
    runtime.wait_idle().unwrap();
    expect("a boxed result without a handle", 6);

    let capture = drops.one();
    let shut = { runtime }.handle();
    shut.spawn(move || drop(capture)).detach();
    expect("a capture of a fiber that no runtime took", 7);
}

/// A fiber that is cancelled before it starts drops its captures, and its join reports that it
/// did not run.
// Proves: M8.
#[test]
fn a_cancelled_fresh_fiber_drops_its_captures_unrun() {
    let drops = Drops::default();
    let runtime = runtime(1);
    runtime.run(|| {
        let ran = Arc::new(AtomicBool::new(false));
        let fibers: Vec<_> = (0..100)
            .map(|_| {
                let (capture, ran) = (drops.one(), Arc::clone(&ran));
                pirn::spawn(move || {
                    ran.store(true, Ordering::SeqCst);
                    drop(capture);
                })
            })
            .collect();
        fibers.iter().for_each(JoinHandle::cancel);
        for fiber in fibers {
            assert!(matches!(fiber.join(), Err(JoinError::NotRun)));
        }
        assert!(!ran.load(Ordering::SeqCst));
        assert_eq!(drops.count(), 100);
    });
}

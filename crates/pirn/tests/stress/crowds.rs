//! Millions of fibers alive at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::diag::{LineClass, SpawnLine};
use pirn::time::{now, sleep_until};
use pirn::{Runtime, channel};

use crate::util::{eventually, mappings, resident, scaled};

const MILLION: usize = 1_000_000;

/// A million parked fibers, a stack each, under the system's default limit on mappings: a
/// little over a page for each, and all resume.
// Proves: M5.
#[test]
#[ignore = "storm: takes five gigabytes"]
#[cfg(not(any(pirn_asan, pirn_tsan)))]
fn alone_a_million_parked_fibers() {
    for size in [64 << 10, 256 << 10] {
        let runtime = Runtime::builder()
            .workers(2)
            .stack_size(size)
            .build()
            .unwrap();
        let before = resident();
        let (tx, rx) = channel::bounded::<()>(0);
        let rx = Arc::new(rx);
        let ended = Arc::new(AtomicUsize::new(0));
        for _ in 0..MILLION {
            let (rx, ended) = (Arc::clone(&rx), Arc::clone(&ended));
            runtime.spawn(move || {
                assert!(rx.recv().is_err());
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }
        eventually("all have started", || {
            runtime.metrics().total.started == MILLION as u64
        });
        let each = resident().saturating_sub(before) / MILLION;
        assert!(
            each < 6 << 10,
            "{each} bytes for each fiber with {size} bytes of stack"
        );
        assert!(mappings() < 20_000, "{} mappings", mappings());
        drop(tx);
        runtime.wait_idle().unwrap();
        assert_eq!(ended.load(Ordering::Relaxed), MILLION);
    }
}

/// A hundred thousand fibers that sleep at the same time: the process takes less than a gigabyte,
/// and all wake up.
// Proves: M5.
#[test]
#[ignore = "a storm that takes a gigabyte: run by `cargo xtask stress`"]
#[cfg(not(any(pirn_asan, pirn_tsan)))]
fn alone_a_hundred_thousand_sleeping_fibers() {
    const SLEEPERS: usize = MILLION / 10;
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let (began, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    // All have started by then. A start takes five times as long without optimization.
    let wake = now() + Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 10 });
    for _ in 0..SLEEPERS {
        let (began, ended) = (Arc::clone(&began), Arc::clone(&ended));
        runtime.spawn(move || {
            began.fetch_add(1, Ordering::Relaxed);
            // An error only if an assertion below has failed.
            let slept = sleep_until(wake).is_ok();
            ended.fetch_add(usize::from(slept), Ordering::Relaxed);
        });
    }
    eventually("all sleep", || began.load(Ordering::Relaxed) == SLEEPERS);
    let (bytes, early) = (resident(), ended.load(Ordering::Relaxed));
    let maps = mappings();
    assert_eq!(early, 0, "all sleep at once");
    assert!(bytes < 1_000_000_000, "{bytes} bytes");
    assert!(maps < 2_000, "{maps} mappings");
    runtime.wait_idle().unwrap();
    assert_eq!(ended.load(Ordering::Relaxed), SLEEPERS);
}

/// Many fibers that start at once make the workers wait for stacks, on a busy machine for long. That
/// is no wait of those fibers: they are not taken for ones that block their threads, and need no
/// more threads.
// Proves: E4.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
#[expect(
    clippy::disallowed_methods,
    reason = "threads that take the processors"
)]
fn alone_a_wait_for_a_stack_blocks_no_line() {
    for _ in 0..scaled(10) {
        let over = AtomicBool::new(false);
        std::thread::scope(|threads| {
            for _ in 0..2 * std::thread::available_parallelism().unwrap().get() {
                threads.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let runtime = Runtime::builder().workers(2).build().unwrap();
            let wake = now() + Duration::from_secs(1);
            let fibers: Vec<_> = (0..50_000)
                .map(|_| runtime.spawn(move || sleep_until(wake)))
                .collect();
            for fiber in fibers {
                assert_eq!(fiber.join().unwrap(), Ok(()));
            }
            let lines = runtime.spawn_lines();
            over.store(true, Ordering::Relaxed);
            let blocks = |line: &&SpawnLine| line.class == LineClass::Blocks;
            assert_eq!(lines.iter().find(blocks), None);
        });
    }
}

/// M1, R2. A million queued fibers cost their headers, not stacks: a worker runs them one after the
/// other on the few cached stacks.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
#[cfg(not(any(pirn_asan, pirn_tsan)))]
fn alone_a_million_queued_fibers() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let before = resident();
    let ran = Arc::new(AtomicUsize::new(0));
    let high = runtime.run(|| {
        for i in 0..MILLION as u64 {
            let ran = Arc::clone(&ran);
            let capture = [i; 3];
            pirn::spawn(move || {
                ran.fetch_add(capture[2] as usize, Ordering::Relaxed);
            });
        }
        resident()
    });
    runtime.wait_idle().unwrap();
    assert_eq!(ran.load(Ordering::Relaxed), MILLION * (MILLION - 1) / 2);
    let each = high.saturating_sub(before) / MILLION;
    assert!(each <= 300, "{each} bytes for each queued fiber");
}

/// A hundred thousand timers at a time, ten times over: all fire, none early.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn timers_by_the_million() {
    let n = scaled(MILLION) / 10;
    let runtime = Runtime::builder()
        .workers(2)
        .stack_size(64 << 10)
        .build()
        .unwrap();
    for _ in 0..10 {
        let early = Arc::new(AtomicUsize::new(0));
        let all: Vec<_> = (0..n as u64)
            .map(|i| {
                let early = Arc::clone(&early);
                runtime.spawn(move || {
                    let at = now() + Duration::from_micros(i * 7_919 % 50_000);
                    sleep_until(at).unwrap();
                    early.fetch_add(usize::from(now() < at), Ordering::Relaxed);
                })
            })
            .collect();
        all.into_iter().for_each(|fiber| fiber.join().unwrap());
        assert_eq!(early.load(Ordering::Relaxed), 0);
    }
    assert_eq!(runtime.metrics().total.rescues, 0);
}

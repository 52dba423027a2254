//! Heartbeats that are on time where fibers may migrate: while a hundred fibers block their
//! threads, and beside fibers that compute on every worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn::time::{MissedTick, interval};

use crate::util::eventually;

const PULSE: Duration = Duration::from_millis(100);
const PULSES: u32 = 30;
/// Of [`PULSES`]: 80 of 100.
const ENOUGH: u64 = 24;

fn free(workers: usize) -> Runtime {
    let builder = Runtime::builder().workers(workers);
    // SAFETY: no fiber here keeps a reference to a thread-local over a wait.
    let builder = unsafe { builder.free_migration() };
    builder.build().unwrap()
}

/// Returns how many of [`PULSES`] beats of a fiber are on time while `meanwhile` runs on the same
/// runtime.
fn beats(runtime: &Runtime, meanwhile: impl FnOnce(&Runtime, &Arc<AtomicBool>)) -> u64 {
    let (over, count) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let (ended, beats) = (Arc::clone(&over), Arc::clone(&count));
    let heart = runtime.spawn(move || {
        let mut ticks = interval(PULSE).missed(MissedTick::Skip);
        while !ended.load(Ordering::SeqCst) {
            ticks.tick().unwrap();
            beats.fetch_add(1, Ordering::SeqCst);
        }
    });
    eventually("it beats", || count.load(Ordering::SeqCst) > 0);
    let (start, before) = (Instant::now(), count.load(Ordering::SeqCst));
    meanwhile(runtime, &over);
    thread::sleep((PULSE * PULSES).saturating_sub(start.elapsed()));
    let had = count.load(Ordering::SeqCst) - before;
    over.store(true, Ordering::SeqCst);
    heart.join().unwrap();
    had
}

/// E12. A hundred fibers block sixteen workers for two seconds: a heart that has beaten on one
/// of them keeps beating, all the others resume, and the extra threads end.
// Proves: E11.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn kidnapped_workers() {
    let kept = (0..3).any(|_| {
        let runtime = free(16);
        let mut sleepers = Vec::new();
        let had = beats(&runtime, |runtime, _| {
            let raw = || thread::sleep(Duration::from_secs(2));
            sleepers.extend((0..100).map(|_| runtime.spawn(raw)));
        });
        let done = sleepers.into_iter().filter_map(|fiber| fiber.join().ok());
        assert_eq!(done.count(), 100);
        println!("16 workers, 100 fibers in raw sleeps: {had} beats of {PULSES}");
        had >= ENOUGH
    });
    // Other processes may occupy the processors for a while.
    assert!(kept, "in none of three attempts");
}

/// The same beside fibers that compute on four workers for as long.
fn beside_hogs(hogs: usize) -> u64 {
    let runtime = free(4);
    let mut all = Vec::new();
    let had = beats(&runtime, |runtime, over| {
        all.extend((0..hogs).map(|_| {
            let over = Arc::clone(over);
            runtime.spawn(move || {
                while !over.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                }
            })
        }));
    });
    all.into_iter().for_each(|fiber| fiber.join().unwrap());
    println!("4 workers, {hogs} fibers that compute: {had} beats of {PULSES}");
    had
}

/// Up to twice as many threads as workers compute at a time: beside fewer fibers than that a heart
/// keeps its beat. (Beside more it has none, since fibers are not preempted.) Half of the beats
/// must be on time, in any of three attempts: on a machine with fewer processors than threads a
/// beat may be late by a time slice or two.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn noisy_neighbors() {
    let half = u64::from(PULSES / 2);
    assert!(
        (0..3).any(|_| beside_hogs(7) >= half),
        "in none of three attempts"
    );
}

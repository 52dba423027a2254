//! Snapshots of a hundred thousand fibers: the delay of a fiber that sleeps for five milliseconds
//! at a time, and the longest work of its worker between two runs of it. Both are printed (`cargo
//! xtask stress --verbose`).

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pirn::{Runtime, channel, spawn};

use crate::util::{Directory, SLACK, eventually, scaled};

const TICK: Duration = Duration::from_millis(5);

/// Below this is the processor time between two runs of a fiber: a piece of a snapshot takes a
/// 400th of it, and all pieces together six times as long.
const MOST: Duration = Duration::from_millis(100 * SLACK as u64);

/// Processor time of the calling thread.
fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a plain call that writes to `time`.
    let done =
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(done, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Measurements of a fiber that runs all the time.
#[derive(Default)]
struct Seen {
    stop: AtomicBool,
    /// How late a sleep ended, in nanoseconds.
    late: AtomicU64,
    /// The longest time that the worker was held between two runs of a fiber, in nanoseconds of its
    /// processor time.
    held: AtomicU64,
}

impl Seen {
    fn sleeps(&self) {
        let mut last = processor_time();
        while !self.stop.load(Ordering::SeqCst) {
            let start = Instant::now();
            pirn::sleep(TICK).expect("not interrupted");
            let late = start.elapsed().saturating_sub(TICK).as_nanos() as u64;
            self.late.fetch_max(late, Ordering::SeqCst);
            self.note_work(&mut last);
        }
    }

    fn yields(&self) {
        let mut last = processor_time();
        while !self.stop.load(Ordering::SeqCst) {
            pirn::yield_now();
            self.note_work(&mut last);
        }
    }

    /// Records the processor time of this thread since `last`.
    fn note_work(&self, last: &mut Duration) {
        let now = processor_time();
        let held = (now - std::mem::replace(last, now)).as_nanos() as u64;
        self.held.fetch_max(held, Ordering::SeqCst);
    }

    /// Both figures since the last call.
    fn take(&self) -> (Duration, Duration) {
        let [late, held] =
            [&self.late, &self.held].map(|it| it.swap(0, Ordering::SeqCst));
        (Duration::from_nanos(late), Duration::from_nanos(held))
    }
}

fn snapshot(path: &Path) -> usize {
    let mut socket = UnixStream::connect(path).expect("it listens");
    socket.write_all(b"snapshot\n").expect("it reads");
    let mut text = String::new();
    socket.read_to_string(&mut text).expect("it answers");
    text.matches("\"kind\":\"fiber\"").count()
}

fn is_delayed(yields: bool) {
    let fibers = scaled(100_000);
    let directory = Directory::new();
    let path = directory.at("socket");
    let runtime = Runtime::builder().workers(1).inspect(&path).build();
    let runtime = runtime.expect("a runtime");
    let (tx, rx) = channel::bounded::<u8>(0);
    runtime.enter(|| {
        for _ in 0..fibers {
            let rx = rx.clone();
            let builder = spawn::Builder::new().stack_size(16 << 10);
            drop(builder.spawn(move || assert!(rx.recv().is_err())));
        }
    });
    let parks = || runtime.metrics().total.fiber_parks;
    eventually("all wait", || parks() >= fibers as u64);
    let seen = Arc::new(Seen::default());
    let shared = Arc::clone(&seen);
    let goes_on = runtime.spawn(move || match yields {
        true => shared.yields(),
        false => shared.sleeps(),
    });
    std::thread::sleep(20 * TICK);
    let (before, _) = seen.take();
    let start = Instant::now();
    let listed = snapshot(&path);
    let took = start.elapsed();
    let (late, held) = seen.take();
    seen.stop.store(true, Ordering::SeqCst);
    goes_on.join().unwrap();
    match yields {
        true => println!(
            "{listed} fibers in {took:?}: the worker was held for {held:?} at most"
        ),
        false => println!(
            "{listed} fibers in {took:?}: a sleep ended {late:?} late, {before:?} before"
        ),
    }
    assert_eq!(listed, fibers + 1);
    assert!(held < MOST, "{held:?} of work at a time");
    drop(tx);
}

// Proves: P4.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn a_snapshot_of_many_fibers_delays_a_sleeper() {
    is_delayed(false);
}

// Proves: P4.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn a_snapshot_of_many_fibers_holds_a_worker() {
    is_delayed(true);
}

//! The measured operations of pirn, on a runtime with one worker.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pirn::channel::bounded;
use pirn::runtime::Runtime;
use pirn::spawn::park_timeout;
use pirn::sync::Mutex;
use pirn::{spawn, yield_now};

/// Calls `body` on a fiber of a runtime with one worker.
pub(super) fn on_fiber(body: &mut (dyn FnMut() + Send)) {
    let runtime = Runtime::builder()
        .workers(1)
        .build()
        .expect("a runtime starts");
    runtime.run(body);
}

/// Two fibers yield to each other, one yield.
pub(super) fn yields(times: u64) {
    let other = spawn(move || (0..times / 2).for_each(|_| yield_now()));
    (0..times / 2).for_each(|_| yield_now());
    let _ = other.join();
}

/// Spawn an empty fiber and join it.
pub(super) fn spawn_join(times: u64) {
    for _ in 0..times {
        let _ = spawn(|| {}).join();
    }
}

/// One of a hundred fibers spawned into a scope that waits for all.
pub(super) fn spawn_batch(times: u64) {
    for _ in 0..times / 100 {
        pirn::scope(|scope| {
            for index in 0..100 {
                scope.spawn(move || {
                    black_box(index);
                });
            }
        });
    }
}

/// Send into a bounded channel with room and receive.
pub(super) fn channel(times: u64) {
    let (sender, receiver) = bounded(64);
    for index in 0..times {
        let _ = sender.send(index);
        let _ = black_box(receiver.recv());
    }
}

/// A message from one fiber to another through a buffer of 100.
pub(super) fn buffered(times: u64) {
    let (sender, receiver) = bounded(100);
    let sending = spawn(move || {
        for index in 0..times {
            let _ = sender.send(index);
        }
    });
    for _ in 0..times {
        let _ = black_box(receiver.recv());
    }
    let _ = sending.join();
}

/// A value to another fiber and back over two rendezvous channels.
pub(super) fn rendezvous(times: u64) {
    let (there, far) = bounded(0);
    let (back, near) = bounded(0);
    let echo = spawn(move || {
        while let Ok(ball) = far.recv() {
            let _ = back.send(ball);
        }
    });
    for index in 0..times {
        let _ = there.send(index);
        let _ = black_box(near.recv());
    }
    drop(there);
    let _ = echo.join();
}

/// Select over two channels, the one that has a value; send it another. In the order of the arms,
/// and with the value in the middle one: a random choice would count differently from run to run.
pub(super) fn select_two(times: u64) {
    let ends: [_; 2] = std::array::from_fn(|_| bounded(1));
    let [a, b] = ends.each_ref().map(|(_, receiver)| receiver);
    for index in 0..times {
        let _ = ends[1].0.send(index);
        let _ = black_box(pirn::select! {
            biased;
            recv(a) -> value => value,
            recv(b) -> value => value,
        });
    }
}

/// Select over eight channels, the one that has a value; send it another.
pub(super) fn select_eight(times: u64) {
    let ends: [_; 8] = std::array::from_fn(|_| bounded(1));
    let [a, b, c, d, e, f, g, h] = ends.each_ref().map(|(_, receiver)| receiver);
    for index in 0..times {
        let _ = ends[4].0.send(index);
        let _ = black_box(pirn::select! {
            biased;
            recv(a) -> value => value,
            recv(b) -> value => value,
            recv(c) -> value => value,
            recv(d) -> value => value,
            recv(e) -> value => value,
            recv(f) -> value => value,
            recv(g) -> value => value,
            recv(h) -> value => value,
        });
    }
}

/// Park with a time limit and be unparked before it: arm, cancel, two switches.
pub(super) fn timer(times: u64) {
    let sleeper = spawn(move || {
        for _ in 0..times {
            park_timeout(Duration::from_secs(3600));
        }
    });
    while !sleeper.is_finished() {
        sleeper.fiber().unpark();
        yield_now();
    }
    let _ = sleeper.join();
}

/// One of a thousand fibers that are spawned, sleep until the same moment, and end.
///
/// The clock of a counted process moves only when its thread reads it. So once all others sleep, the
/// body reads it until the moment.
pub(super) fn sleeper(times: u64) {
    const SLEEPERS: u64 = 1_000;
    let begun = AtomicU64::new(0);
    let (last, all_begun) = bounded(1);
    for round in 1..=times / SLEEPERS {
        let moment = pirn::time::now() + Duration::from_millis(20);
        pirn::scope(|scope| {
            for _ in 0..SLEEPERS {
                scope.spawn(|| {
                    if begun.fetch_add(1, Ordering::Relaxed) + 1 == round * SLEEPERS {
                        let _ = last.send(());
                    }
                    let _ = pirn::time::sleep_until(moment);
                });
            }
            let _ = all_begun.recv();
            while pirn::time::now() < moment {}
        });
    }
}

/// Lock and unlock a free mutex.
pub(super) fn mutex(times: u64) {
    let mutex = Mutex::new(Cell::new(0u64));
    for _ in 0..times {
        let guard = mutex.lock();
        guard.set(guard.get() + 1);
    }
    black_box(mutex.into_inner());
}

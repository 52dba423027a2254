//! The delay of a fresh fiber while every worker has a fiber that computes, and the latency of a
//! message from a plain thread to a waiting fiber.

use std::thread;
use std::time::Duration;

use crate::child::{Job, Latency, compute, end, sample};

use super::library::{Library, join_all};

/// Prints the delay of the first fresh fiber, and those of the `job.n` later ones.
pub(super) async fn fresh<L: Library>(job: Job) {
    let hogs = (1..job.workers).map(|_| L::spawn(hog::<L>(LONG)));
    let mut all: Vec<_> = hogs.collect();
    all.push(L::spawn(spawner::<L>(job.n)));
    join_all::<L>(all).await;
}

/// Computes, and spawns a fresh fiber before each piece except the first, in which the other hogs
/// settle on their workers.
async fn spawner<L: Library>(count: u64) -> u64 {
    let mut fresh = Vec::new();
    L::heavy(|| compute(LONG)).await;
    for _ in 0..=count {
        let spawned = Latency::now();
        fresh.push(L::spawn(async move { Latency::now() - spawned }));
        L::heavy(|| compute(LONG)).await;
        L::pause().await;
    }
    for (number, one) in fresh.into_iter().enumerate() {
        let nanos = L::join(one).await;
        let series = if number == 0 { "first" } else { "later" };
        sample(series, nanos as f64 / 1e3);
    }
    end()
}

/// Computes for `micros` microseconds at a time.
async fn hog<L: Library>(micros: u64) -> u64 {
    loop {
        L::heavy(move || compute(micros)).await;
        L::pause().await;
    }
}

/// Prints the delay of each of `job.n` messages beside hogs.
pub(super) async fn message<L: Library>(job: Job, hogs: u64) {
    let channel = L::channel();
    let mut all = vec![L::spawn(receiver::<L>(channel.clone(), job.n))];
    L::sleep(SETTLE).await;
    all.extend((0..hogs).map(|_| L::spawn(hog::<L>(SHORT))));
    thread::spawn(move || {
        thread::sleep(SETTLE);
        for _ in 0..job.n {
            thread::sleep(GAP);
            L::send(&channel, Latency::now());
        }
    });
    join_all::<L>(all).await;
}

async fn receiver<L: Library>(channel: L::Channel, count: u64) -> u64 {
    let mut delays = Vec::new();
    let mut last = 0;
    for _ in 0..count {
        let sent = L::receive(&channel).await;
        delays.push(Latency::now() - sent);
        assert!(sent > last, "a message came twice or too late");
        last = sent;
    }
    for nanos in delays {
        sample("delay", nanos as f64 / 1e3);
    }
    end()
}

/// Microseconds for which the hogs beside fresh fibers compute.
const LONG: u64 = 100_000;
/// Microseconds for which the hogs beside a receiver compute.
const SHORT: u64 = 100;
/// Arbitrary: long enough for every fiber to have started.
const SETTLE: Duration = Duration::from_millis(20);
/// Interval between two messages: long enough for the workers to park.
const GAP: Duration = Duration::from_millis(1);

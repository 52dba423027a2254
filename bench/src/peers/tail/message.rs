//! The latency of a message from a plain thread to a waiting fiber.

use std::thread;
use std::time::Duration;

use crate::child::{Job, Latency, compute, end, sample};

use super::library::Library;

/// Prints the delay of each of `job.n` messages beside hogs.
pub(super) async fn message<L: Library>(job: Job, hogs: u64) {
    let channel = L::channel();
    let mut all = vec![L::spawn(receiver::<L>(channel.clone(), job.n))];
    L::sleep(SETTLE).await;
    all.extend((0..hogs).map(|_| L::spawn(hog::<L>())));
    thread::spawn(move || {
        thread::sleep(SETTLE);
        for _ in 0..job.n {
            thread::sleep(GAP);
            L::send(&channel, Latency::now());
        }
    });
    for one in all {
        L::join(one).await;
    }
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

async fn hog<L: Library>() -> u64 {
    loop {
        L::heavy(|| compute(PIECE)).await;
        L::pause().await;
    }
}

/// Arbitrary: long enough for every fiber to have started.
const SETTLE: Duration = Duration::from_millis(20);
/// Interval between two messages: long enough for the workers to park.
const GAP: Duration = Duration::from_millis(1);
/// Microseconds that a hog computes at a time.
const PIECE: u64 = 100;

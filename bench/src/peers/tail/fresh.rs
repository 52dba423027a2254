//! The delay of a fresh fiber while every worker has a fiber that computes.

use crate::child::{Job, Latency, compute, end, sample};

use super::library::Library;

/// Prints the delay of the first fresh fiber, and those of the `job.n` later ones.
pub(super) async fn fresh<L: Library>(job: Job) {
    let hogs = (1..job.workers).map(|_| L::spawn(hog::<L>()));
    let mut all: Vec<_> = hogs.collect();
    all.push(L::spawn(spawner::<L>(job.n)));
    for one in all {
        L::join(one).await;
    }
}

/// Computes, and spawns a fresh fiber before each piece except the first, in which the other hogs
/// settle on their workers.
async fn spawner<L: Library>(count: u64) -> u64 {
    let mut fresh = Vec::new();
    L::heavy(|| compute(PIECE)).await;
    for _ in 0..=count {
        let spawned = Latency::now();
        fresh.push(L::spawn(async move { Latency::now() - spawned }));
        L::heavy(|| compute(PIECE)).await;
        L::pause().await;
    }
    for (number, one) in fresh.into_iter().enumerate() {
        let nanos = L::join(one).await;
        let series = if number == 0 { "first" } else { "later" };
        sample(series, nanos as f64 / 1e3);
    }
    end()
}

async fn hog<L: Library>() -> u64 {
    loop {
        L::heavy(|| compute(PIECE)).await;
        L::pause().await;
    }
}

/// Microseconds that a hog computes at a time.
const PIECE: u64 = 100_000;

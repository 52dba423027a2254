//! Measures the hot paths. Prints figures without a verdict: run it in release, alone, with
//! `--ignored --nocapture`.

use std::hint::black_box;

use super::ride::{Ride, pool};
use crate::context::StackCache;
use crate::shim::now;

/// Short enough to fall between two interruptions, on a busy machine too.
const ROUNDS: u32 = 20_000;
const RUNS: u32 = 300;

/// Prints the best of all runs, per round.
fn measure(name: &str, mut run: impl FnMut(u32)) {
    let best = (0..RUNS)
        .map(|_| {
            let start = now();
            run(ROUNDS);
            (now() - start).as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    println!("{name:44} {:8.2} ns", best * 1e9 / f64::from(ROUNDS));
}

#[test]
#[ignore = "prints figures"]
fn hot_paths() {
    let pool = pool(100_000);
    let mut cache = StackCache::new(32);

    let mut ride = Ride::new(pool.take().unwrap(), |sides| {
        loop {
            sides.pause();
        }
    });
    measure("resume and suspend, one fiber", |rounds| {
        for _ in 0..rounds {
            ride.resume();
        }
    });

    let mut rides: Vec<Ride> = (0..1_000)
        .map(|_| {
            Ride::new(pool.take().unwrap(), |sides| {
                loop {
                    sides.pause();
                }
            })
        })
        .collect();
    measure("resume and suspend, 1,000 fibers in turn", |rounds| {
        for _ in 0..rounds / 1_000 {
            for ride in &mut rides {
                ride.resume();
            }
        }
    });

    measure("cache: take and give", |rounds| {
        for _ in 0..rounds {
            let stack = cache.take(&pool).unwrap();
            cache.give(black_box(stack), &pool);
        }
    });

    measure("pool: take and give, warm", |rounds| {
        for _ in 0..rounds {
            pool.give(black_box(pool.take().unwrap()));
        }
    });

    let mut once = super::ride::Once::new(pool.take().unwrap());
    measure("prepare, run to the end", |rounds| {
        for _ in 0..rounds {
            once.run();
        }
    });

    let mut stacks = Vec::with_capacity(100_000);
    let (mut made, mut cooled) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..100 {
        let start = now();
        stacks.extend((0..500).map(|_| pool.take().unwrap()));
        made = made.min((now() - start).as_secs_f64() / 500.0);
    }
    while !stacks.is_empty() {
        let some = stacks.split_off(stacks.len() - 500);
        let start = now();
        some.into_iter().for_each(|stack| pool.give(stack));
        cooled = cooled.min((now() - start).as_secs_f64() / 500.0);
    }
    println!("{:44} {:8.2} ns", "pool: a new stack", made * 1e9);
    println!("{:44} {:8.2} ns", "pool: a stack goes cold", cooled * 1e9);
}

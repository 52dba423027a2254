//! The programs that are measured by their whole time, as a multiple of the work divided by the
//! workers.

use std::thread;
use std::time::{Duration, Instant};

use crate::child::{Job, compute, sample};

use super::library::{Library, join_all};

/// Fibers that wait on one channel share `job.n` jobs.
pub(super) async fn pool<L: Library>(job: Job, fibers: u64) {
    let jobs = L::channel();
    let crew: Vec<_> = (0..fibers)
        .map(|_| L::spawn(member::<L>(jobs.clone())))
        .collect();
    L::sleep(SETTLE).await;
    let started = Instant::now();
    (1..=job.n).for_each(|number| L::send(&jobs, number));
    (0..fibers).for_each(|_| L::send(&jobs, END));
    let sum = join_all::<L>(crew).await;
    multiple("ideal", started, job.n * JOB, &job);
    assert_eq!(sum, sum_to(job.n), "a job was lost or done twice");
}

async fn member<L: Library>(jobs: L::Channel) -> u64 {
    let mut sum = 0;
    loop {
        match L::receive(&jobs).await {
            END => return sum,
            number => {
                L::heavy(|| compute(JOB)).await;
                sum += number;
            }
        }
    }
}

/// `job.n` fibers sleep and then compute.
pub(super) async fn sleepers<L: Library>(job: Job) {
    let started = Instant::now();
    let all: Vec<_> = (1..=job.n)
        .map(|number| L::spawn(sleeper::<L>(number)))
        .collect();
    let sum = join_all::<L>(all).await;
    multiple("ideal", started, job.n * TASK, &job);
    assert_eq!(sum, sum_to(job.n), "a fiber was lost or ran twice");
}

async fn sleeper<L: Library>(number: u64) -> u64 {
    L::sleep(NAP).await;
    L::heavy(|| compute(TASK)).await;
    number
}

/// `job.n` fibers sleep and then block their threads, which needs no processor; twice.
pub(super) async fn blockers<L: Library>(job: Job) {
    for series in ["first", "second"] {
        let started = Instant::now();
        let all: Vec<_> = (1..=job.n)
            .map(|number| L::spawn(blocker::<L>(number)))
            .collect();
        let sum = join_all::<L>(all).await;
        let ideal = NAP + BLOCK;
        sample(
            series,
            started.elapsed().as_secs_f64() / ideal.as_secs_f64(),
        );
        assert_eq!(sum, sum_to(job.n), "a fiber was lost or ran twice");
    }
}

async fn blocker<L: Library>(number: u64) -> u64 {
    L::sleep(NAP).await;
    L::heavy(|| thread::sleep(BLOCK)).await;
    number
}

/// Actors pass as many tokens around, and compute for each token.
pub(super) async fn ring<L: Library>(job: Job) {
    let laps = (job.n / ACTORS).max(1);
    let links: Vec<_> = (0..ACTORS).map(|_| L::channel()).collect();
    let actor = |at: usize| {
        let next = links[(at + 1) % links.len()].clone();
        L::spawn(actor::<L>(links[at].clone(), next, laps))
    };
    let actors: Vec<_> = (0..links.len()).map(actor).collect();
    L::sleep(SETTLE).await;
    let started = Instant::now();
    links.iter().for_each(|link| L::send(link, 0));
    let hops = join_all::<L>(actors).await;
    multiple("ideal", started, ACTORS * laps * HOP, &job);
    // One token may overtake another at the start, so that only the sums are fixed.
    let (mut made, mut counted) = (0, 0);
    for link in &links {
        let token = L::receive(link).await;
        made += token;
        counted += token * token.saturating_sub(1) / 2;
    }
    assert_eq!(made, ACTORS * laps, "a token was lost or doubled");
    assert_eq!(hops, counted, "a token was lost or doubled");
}

/// Returns the sum of the hops that the tokens had made.
async fn actor<L: Library>(from: L::Channel, to: L::Channel, laps: u64) -> u64 {
    let mut sum = 0;
    for _ in 0..laps {
        let hops = L::receive(&from).await;
        L::heavy(|| compute(HOP)).await;
        L::send(&to, hops + 1);
        sum += hops;
    }
    sum
}

/// Items go through stages, each of which computes as soon as it starts.
pub(super) async fn stages<L: Library>(job: Job) {
    let links: Vec<_> = (0..=STAGES).map(|_| L::channel()).collect();
    let started = Instant::now();
    for number in 1..=job.n {
        L::send(&links[0], number);
    }
    L::send(&links[0], END);
    let stage =
        |pair: &[L::Channel]| L::spawn(stage::<L>(pair[0].clone(), pair[1].clone()));
    let all: Vec<_> = links.windows(2).map(stage).collect();
    let sum = join_all::<L>(all).await;
    multiple("ideal", started, STAGES * (job.n * ITEM + BEGIN), &job);
    assert_eq!(
        sum,
        STAGES * sum_to(job.n),
        "an item was lost or came twice"
    );
}

async fn stage<L: Library>(from: L::Channel, to: L::Channel) -> u64 {
    L::heavy(|| compute(BEGIN)).await;
    let mut sum = 0;
    loop {
        let number = L::receive(&from).await;
        if number == END {
            L::send(&to, END);
            return sum;
        }
        L::heavy(|| compute(ITEM)).await;
        L::send(&to, number);
        sum += number;
    }
}

/// Prints the time since `started` as a multiple of `work` microseconds shared by the workers.
fn multiple(series: &str, started: Instant, work: u64, job: &Job) {
    let ideal = work as f64 / 1e6 / job.workers as f64;
    sample(series, started.elapsed().as_secs_f64() / ideal);
}

/// 1 + 2 + … + `count`.
fn sum_to(count: u64) -> u64 {
    count * (count + 1) / 2
}

/// A message that ends its receiver.
const END: u64 = u64::MAX;
/// Arbitrary: long enough for every fiber to have started and parked.
const SETTLE: Duration = Duration::from_millis(20);
/// Sleep time before sleepers compute or block.
const NAP: Duration = Duration::from_millis(5);
/// Time for which a blocker holds its thread.
const BLOCK: Duration = Duration::from_millis(300);
/// Microseconds of a job in the pool.
const JOB: u64 = 2_000;
/// Microseconds that a sleeper computes.
const TASK: u64 = 10_000;
/// Microseconds that an actor computes for a token.
const HOP: u64 = 1_000;
/// Microseconds that a stage computes for an item.
const ITEM: u64 = 1_000;
/// Microseconds that a stage computes before its first item.
const BEGIN: u64 = 2_000;
/// Actors of the ring, and its tokens.
const ACTORS: u64 = 8;
/// Stages of the pipeline.
const STAGES: u64 = 3;

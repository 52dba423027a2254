//! The cases, once for all `async` libraries: only the library differs.
//!
//! A trait method returns the library's own future, so that none is wrapped in another one.

use std::fmt::Debug;
use std::future::poll_fn;
use std::hint::black_box;
use std::ops::DerefMut;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use crate::case::{Kind, Place, Shape, Talk};
use crate::child::{
    Job, Laps, Latency, Outcome, Skip, Stamp, memory, peak_mib, report_parked, rest_for,
    sample,
};

use super::blocking::{Gate, sum_below};
use super::sleepers::{PAUSE, Sleepers};

/// A library of tasks.
pub(super) trait Tasks: Send + Sync + 'static {
    /// A task that can be awaited.
    type Handle<T: Send + 'static>: Future<Output = Self::Ended<T>> + Send;
    /// The outcome of a task.
    type Ended<T: Send + 'static>;
    /// The sending end of a bounded channel.
    type Sender: Clone + Send + Sync + 'static;
    /// The receiving end.
    type Receiver: Send + 'static;
    /// The error of a send.
    type Unsent: Debug;
    /// The outcome of a receive.
    type Received;
    /// A mutex around a number.
    type Mutex: Default + Send + Sync + 'static;
    /// Its guard.
    type Guard<'a>: DerefMut<Target = u64>;
    /// A place to wait at for good.
    type Shut: Send + Sync + 'static;

    /// Starts the library as the job asks and runs `work` on one of its workers.
    fn run(job: &Job, work: impl Future<Output = ()> + Send + 'static);

    /// Starts a task.
    fn spawn<T: Send + 'static>(
        work: impl Future<Output = T> + Send + 'static,
    ) -> Self::Handle<T>;

    /// Returns the value of a task.
    fn value<T: Send + 'static>(ended: Self::Ended<T>) -> T;

    /// Leaves a task alone.
    fn detach<T: Send + 'static>(handle: Self::Handle<T>);

    /// Yields to other tasks.
    fn pause() -> impl Future<Output = ()> + Send + 'static;

    /// Sleeps for this time; the timer is armed by the first poll.
    fn sleep(time: Duration) -> impl Future<Output: Send> + Send;

    /// Sleeps until this time.
    fn sleep_until(time: Instant) -> impl Future<Output: Send> + Send;

    /// Returns a place to wait at.
    fn shut() -> Self::Shut;

    /// Waits there.
    fn wait(shut: &Self::Shut) -> impl Future<Output: Send> + Send;

    /// Opens a channel.
    fn channel(capacity: usize) -> (Self::Sender, Self::Receiver);

    /// Clones the receiver; nothing if there is only one.
    fn clone_receiver(receiver: &Self::Receiver) -> Option<Self::Receiver>;

    /// Sends.
    fn send(
        sender: &Self::Sender,
        value: u64,
    ) -> impl Future<Output = Result<(), Self::Unsent>> + Send;

    /// Waits for a value.
    fn recv(receiver: &mut Self::Receiver)
    -> impl Future<Output = Self::Received> + Send;

    /// Returns the received value; none once the channel is closed.
    fn received(received: Self::Received) -> Option<u64>;

    /// Locks the mutex.
    fn lock(mutex: &Self::Mutex) -> impl Future<Output = Self::Guard<'_>> + Send;
}

/// Runs a case, except for those that the library has by itself.
pub(super) fn run<L: Tasks>(job: &Job) -> Outcome {
    let job = *job;
    match job.kind {
        Kind::Yield(tasks) => L::run(&job, yields::<L>(job, tasks)),
        Kind::SpawnJoin => L::run(&job, spawn_join::<L>(job)),
        Kind::SpawnJoinYield => L::run(&job, spawn_join_yield::<L>(job)),
        Kind::SpawnMany => L::run(&job, spawn_many::<L>(job)),
        Kind::Skynet => L::run(&job, skynet::<L>(job)),
        Kind::Parked => L::run(&job, parked::<L>(job)),
        Kind::BusyChild => L::run(&job, starts::<L>(job)),
        Kind::HandOver => L::run(&job, hand_over::<L>(job)),
        Kind::Throughput => L::run(&job, throughput::<L>(job)),
        Kind::Steal => return Err(Skip("its queue cannot be had by itself")),
        Kind::Talk(work) if work.on_threads() => {
            return Err(Skip("not made for plain threads"));
        }
        Kind::Talk(Talk::PingPong(place)) => L::run(&job, ping_pong::<L>(job, place)),
        Kind::Talk(Talk::Messages(shape)) => {
            if shape.receivers > 1 && L::clone_receiver(&L::channel(1).1).is_none() {
                return Err(Skip("one receiver only"));
            }
            L::run(&job, messages::<L>(job, shape));
        }
        Kind::Talk(Talk::Crowd(tasks)) => L::run(&job, crowd::<L>(job, tasks)),
        Kind::Talk(Talk::Timer) => L::run(&job, timer::<L>(job)),
        Kind::Talk(Talk::Sleepers) => L::run(&job, sleepers::<L>(job)),
        Kind::Talk(Talk::Select(_)) => return Err(Skip("no select")),
        _ => return Err(Skip("no such case")),
    }
    Ok(())
}

async fn yields<L: Tasks>(job: Job, tasks: u64) {
    let each = job.n / tasks;
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let work = || async move {
            for _ in 0..each {
                L::pause().await;
            }
        };
        let all: Vec<_> = (0..tasks).map(|_| L::spawn(work())).collect();
        for task in all {
            L::value(task.await);
        }
        laps.end();
    }
    laps.per_operation(each * tasks);
}

async fn spawn_join<L: Tasks>(job: Job) {
    let mut laps = Laps::new(&job);
    while laps.begin() {
        for _ in 0..job.n {
            L::value(L::spawn(async {}).await);
        }
        laps.end();
    }
    laps.per_operation(job.n);
}

async fn spawn_join_yield<L: Tasks>(job: Job) {
    let mut laps = Laps::new(&job);
    while laps.begin() {
        for _ in 0..job.n {
            L::value(L::spawn(L::pause()).await);
        }
        laps.end();
    }
    laps.per_operation(job.n);
}

async fn spawn_many<L: Tasks>(job: Job) {
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let mut tasks = Vec::with_capacity(job.n as usize);
        for index in 0..job.n {
            let captured = [index; 4];
            tasks.push(L::spawn(async move {
                black_box(captured);
            }));
        }
        for task in tasks {
            L::value(task.await);
        }
        laps.end();
    }
    laps.cold_and_warm(job.n);
    sample("peak", peak_mib());
}

async fn skynet<L: Tasks>(job: Job) {
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let sum = L::value(node::<L>(0, job.n).await);
        laps.end();
        assert_eq!(sum, sum_below(job.n));
    }
    laps.milliseconds(1.0);
}

fn node<L: Tasks>(number: u64, leaves: u64) -> L::Handle<u64> {
    L::spawn(async move {
        if leaves == 1 {
            return number;
        }
        let below = leaves / 10;
        let children: [_; 10] =
            std::array::from_fn(|index| node::<L>(number + index as u64 * below, below));
        let mut sum = 0;
        for child in children {
            sum += L::value(child.await);
        }
        sum
    })
}

async fn parked<L: Tasks>(job: Job) {
    let shut = Arc::new(L::shut());
    let started = Arc::new(AtomicU64::new(0));
    let before = memory();
    for _ in 0..job.n {
        let (shut, started) = (shut.clone(), started.clone());
        L::detach(L::spawn(async move {
            started.fetch_add(1, Ordering::Relaxed);
            L::wait(&shut).await;
        }));
    }
    while started.load(Ordering::Relaxed) < job.n {
        L::pause().await;
    }
    report_parked(before, job.n)
}

/// Prints the times from the start of a task to its first step.
async fn starts<L: Tasks>(job: Job) {
    let mut latency = Latency::new(&job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        let from = Latency::now();
        let task = L::spawn(async move { child.mark() });
        latency.push(stamp.spin_for(&job, from));
        rest_for(&job, Kind::BusyChild);
        L::value(task.await);
    }
    latency.print();
}

/// Two tasks at a time: many libraries keep the newest in a slot that thieves see only later.
async fn hand_over<L: Tasks>(job: Job) {
    let mut latency = Latency::new(&job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        let before = Latency::now();
        let first = L::spawn(async move { child.mark() });
        let between = Latency::now();
        let second = L::spawn(async {});
        latency.push(stamp.spin_pair(before, between));
        L::value(first.await);
        L::value(second.await);
    }
    latency.print();
}

async fn throughput<L: Tasks>(job: Job) {
    let batches = job.n / BATCH / job.workers as u64;
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let spawners = (0..job.workers).map(|_| L::spawn(spawner::<L>(batches)));
        let spawners: Vec<_> = spawners.collect();
        for task in spawners {
            L::value(task.await);
        }
        laps.end();
    }
    laps.rate(batches * BATCH * job.workers as u64);
}

const BATCH: u64 = 1000;

async fn spawner<L: Tasks>(batches: u64) {
    let mut batch = Vec::with_capacity(BATCH as usize);
    for _ in 0..batches {
        batch.extend((0..BATCH).map(|_| L::spawn(async {})));
        for task in batch.drain(..) {
            L::value(task.await);
        }
    }
}

const OPEN: &str = "it is open";

/// These libraries have no rendezvous: a channel of one.
async fn ping_pong<L: Tasks>(job: Job, place: Place) {
    let trips = job.n;
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let (there, mut far) = L::channel(1);
        let (back, mut near) = L::channel(1);
        let gate = Arc::new(Gate::default());
        let other = gate.clone();
        let caller = L::spawn(async move {
            gate.pass(place);
            let mut ball = 0u64;
            for _ in 0..trips {
                L::send(&there, ball).await.expect(OPEN);
                ball = L::received(L::recv(&mut near).await).expect(OPEN);
            }
            ball
        });
        let echo = L::spawn(async move {
            other.pass(place);
            for _ in 0..trips {
                let ball = L::received(L::recv(&mut far).await).expect(OPEN);
                L::send(&back, ball + 1).await.expect(OPEN);
            }
        });
        let ball = L::value(caller.await);
        L::value(echo.await);
        laps.end();
        assert_eq!(ball, trips, "a message was lost or came twice");
    }
    laps.per_operation(trips);
}

async fn messages<L: Tasks>(job: Job, shape: Shape) {
    let each = job.n / shape.senders;
    let total = each * shape.senders;
    let capacity = shape.capacity.expect("the cases on fibers are bounded");
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let (sender, receiver) = L::channel(capacity);
        let mut receivers = Vec::new();
        for _ in 1..shape.receivers {
            receivers.extend(L::clone_receiver(&receiver));
        }
        receivers.push(receiver);
        let receivers = receivers.into_iter().map(|end| L::spawn(receive::<L>(end)));
        let receivers: Vec<_> = receivers.collect();
        for at in 0..shape.senders {
            let sender = sender.clone();
            L::detach(L::spawn(async move {
                for value in at * each..(at + 1) * each {
                    L::send(&sender, value).await.expect(OPEN);
                }
            }));
        }
        drop(sender);
        let mut sum = 0;
        for one in receivers {
            sum += L::value(one.await);
        }
        laps.end();
        assert_eq!(sum, sum_below(total), "a message was lost or came twice");
    }
    laps.per_operation(total);
}

async fn receive<L: Tasks>(mut receiver: L::Receiver) -> u64 {
    let mut sum = 0;
    while let Some(value) = L::received(L::recv(&mut receiver).await) {
        sum += value;
    }
    sum
}

async fn crowd<L: Tasks>(job: Job, tasks: u64) {
    let each = job.n / tasks;
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let mutex = Arc::new(L::Mutex::default());
        let all = (0..tasks).map(|_| L::spawn(add::<L>(mutex.clone(), each)));
        let all: Vec<_> = all.collect();
        for one in all {
            L::value(one.await);
        }
        laps.end();
        assert_eq!(*L::lock(&mutex).await, each * tasks);
    }
    laps.per_operation(each * tasks);
}

async fn add<L: Tasks>(mutex: Arc<L::Mutex>, times: u64) {
    for _ in 0..times {
        *L::lock(&mutex).await += 1;
    }
}

async fn timer<L: Tasks>(job: Job) {
    let mut laps = Laps::new(&job);
    while laps.begin() {
        for _ in 0..job.n {
            let mut timer = pin!(L::sleep(Duration::from_secs(3600)));
            let armed =
                poll_fn(|context| Poll::Ready(timer.as_mut().poll(context).is_pending()));
            assert!(armed.await, "an hour is long");
        }
        laps.end();
    }
    laps.per_operation(job.n);
}

async fn sleepers<L: Tasks>(job: Job) {
    let all = Sleepers::new(&job);
    let tasks = (0..job.n).map(|number| L::spawn(sleeper::<L>(all, number)));
    let tasks: Vec<_> = tasks.collect();
    while all.more_to_begin() {
        L::sleep(PAUSE).await;
    }
    let before = all.all_begun();
    for task in tasks {
        L::value(task.await);
    }
    all.report(before)
}

async fn sleeper<L: Tasks>(all: &'static Sleepers, number: u64) {
    all.begins();
    L::sleep_until(all.deadline(number)).await;
    all.woke(number);
}

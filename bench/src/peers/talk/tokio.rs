//! tokio's part.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::{Mutex, mpsc};
use tokio::task::{JoinHandle, unconstrained};
use tokio::time::{sleep, sleep_until};

use crate::case::{Place, Shape, Talk};
use crate::child::{Job, Laps, Outcome, Skip};

use super::blocking::{Gate, sum_below};
use super::sleepers::{PAUSE, Sleepers};
use super::stock::Stock;

pub(in crate::peers) fn run(runtime: &Runtime, job: Job, work: Talk) -> Outcome {
    if work.on_threads() {
        return Err(Skip("not made for plain threads"));
    }
    match work {
        Talk::PingPong(place) => root(runtime, ping_pong(job, place)),
        Talk::Messages(shape) if shape.receivers > 1 => {
            return Err(Skip("one receiver only"));
        }
        Talk::Messages(shape) => root(runtime, messages(job, shape)),
        Talk::Select(2) => root(runtime, choose_of_two(job)),
        Talk::Select(8) => root(runtime, choose_of_eight(job)),
        Talk::Select(_) => return Err(Skip("no such case")),
        Talk::Crowd(tasks) => root(runtime, crowd(job, tasks)),
        Talk::Timer => root(runtime, timer(job)),
        Talk::Sleepers => root(runtime, sleepers(job)),
    }
    Ok(())
}

/// Runs `work` on a worker: the thread that blocks on a runtime is not one.
fn root(runtime: &Runtime, work: impl Future<Output = ()> + Send + 'static) {
    runtime
        .block_on(async { tokio::spawn(work).await.expect("the case does not panic") });
}

async fn join<T>(task: JoinHandle<T>) -> T {
    task.await.expect("no task panics")
}

/// tokio has no rendezvous: a channel of one.
async fn ping_pong(job: Job, place: Place) {
    let trips = job.n;
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let (there, mut far) = mpsc::channel(1);
        let (back, mut near) = mpsc::channel(1);
        let gate = Arc::new(Gate::default());
        let other = gate.clone();
        let caller = tokio::spawn(async move {
            gate.pass(place);
            let mut ball = 0u64;
            for _ in 0..trips {
                there.send(ball).await.expect("it is open");
                ball = near.recv().await.expect("it is open");
            }
            ball
        });
        let echo = tokio::spawn(async move {
            other.pass(place);
            for _ in 0..trips {
                let ball = far.recv().await.expect("it is open");
                back.send(ball + 1).await.expect("it is open");
            }
        });
        let ball = join(caller).await;
        join(echo).await;
        laps.end();
        assert_eq!(ball, trips, "a message was lost or came twice");
    }
    laps.per_operation(trips);
}

async fn messages(job: Job, shape: Shape) {
    let each = job.n / shape.senders;
    let total = each * shape.senders;
    let capacity = shape.capacity.expect("the cases on fibers are bounded");
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let (sender, mut receiver) = mpsc::channel(capacity);
        let receiving = tokio::spawn(async move {
            let mut sum = 0u64;
            while let Some(value) = receiver.recv().await {
                sum += value;
            }
            sum
        });
        for at in 0..shape.senders {
            let sender = sender.clone();
            tokio::spawn(async move {
                for value in at * each..(at + 1) * each {
                    sender.send(value).await.expect("it is open");
                }
            });
        }
        drop(sender);
        let sum = join(receiving).await;
        laps.end();
        assert_eq!(sum, sum_below(total), "a message was lost or came twice");
    }
    laps.per_operation(total);
}

/// Expands to a case with its arms in the code.
macro_rules! choose {
    ($name:ident, $ways:literal, $($receiver:ident),*) => {
        async fn $name(job: Job) {
            let mut stock = Stock::new(&job, $ways);
            let mut senders = Vec::new();
            $(
                let (sender, mut $receiver) = mpsc::channel(stock.each());
                senders.push(sender);
            )*
            let mut laps = Laps::new(&job);
            loop {
                stock.fill(|way, value| senders[way].try_send(value).expect("there is room"));
                if !laps.begin() {
                    break;
                }
                let mut sum = 0u64;
                for _ in 0..job.n {
                    let value: Option<u64> = tokio::select! {
                        $(value = $receiver.recv() => value,)*
                    };
                    sum += value.expect("there are values");
                }
                laps.end();
                let mut left = [$(&mut $receiver),*];
                stock.taken(sum, |way| left[way].try_recv().ok());
            }
            laps.per_operation(job.n);
        }
    };
}

choose!(choose_of_two, 2, a, b);
choose!(choose_of_eight, 8, a, b, c, d, e, f, g, h);

async fn crowd(job: Job, tasks: u64) {
    let each = job.n / tasks;
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let mutex = Arc::new(Mutex::new(0u64));
        let work = |mutex: Arc<Mutex<u64>>| async move {
            for _ in 0..each {
                *mutex.lock().await += 1;
            }
        };
        let all: Vec<_> = (0..tasks)
            .map(|_| tokio::spawn(work(mutex.clone())))
            .collect();
        for one in all {
            join(one).await;
        }
        laps.end();
        assert_eq!(*mutex.lock().await, each * tasks);
    }
    laps.per_operation(each * tasks);
}

/// Polled without a budget: a poll beyond it would not arm the timer.
async fn timer(job: Job) {
    let mut laps = Laps::new(&job);
    while laps.begin() {
        unconstrained(async {
            for _ in 0..job.n {
                let sleep = sleep(Duration::from_secs(3600));
                tokio::pin!(sleep);
                let armed = poll_fn(|context| {
                    Poll::Ready(sleep.as_mut().poll(context).is_pending())
                });
                assert!(armed.await, "an hour is long");
            }
        })
        .await;
        laps.end();
    }
    laps.per_operation(job.n);
}

async fn sleepers(job: Job) {
    let all = Sleepers::new(&job);
    let task = |number| async move {
        all.begins();
        sleep_until(all.deadline(number).into()).await;
        all.woke(number);
    };
    let tasks: Vec<_> = (0..job.n)
        .map(|number| tokio::spawn(task(number)))
        .collect();
    while all.more_to_begin() {
        sleep(PAUSE).await;
    }
    let before = all.all_begun();
    for one in tasks {
        join(one).await;
    }
    all.report(before)
}

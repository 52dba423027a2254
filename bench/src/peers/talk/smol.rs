//! smol's part.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use smol::channel::bounded;
use smol::lock::Mutex;
use smol::{Executor, Timer};

use crate::case::{Place, Shape, Talk};
use crate::child::{Job, Laps, Outcome, Skip};

use super::blocking::{Gate, sum_below};
use super::sleepers::{PAUSE, Sleepers};

type Tasks = &'static Executor<'static>;

/// Runs the case with `root`, which drives a future on the workers of `tasks`.
pub(in crate::peers) fn run(job: Job, work: Talk, tasks: Tasks) -> Outcome {
    let root = |work: smol::future::Boxed<()>| super::super::smol::root(job, work);
    if work.on_threads() {
        return Err(Skip("not made for plain threads"));
    }
    match work {
        Talk::PingPong(place) => root(Box::pin(ping_pong(job, place, tasks))),
        Talk::Messages(shape) => root(Box::pin(messages(job, shape, tasks))),
        Talk::Crowd(count) => root(Box::pin(crowd(job, count, tasks))),
        Talk::Timer => root(Box::pin(timer(job))),
        Talk::Sleepers => root(Box::pin(sleepers(job, tasks))),
        Talk::Select(_) => return Err(Skip("no select")),
    }
    Ok(())
}

/// smol has no rendezvous: a channel of one.
async fn ping_pong(job: Job, place: Place, tasks: Tasks) {
    let trips = job.n;
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let (there, far) = bounded(1);
        let (back, near) = bounded(1);
        let gate = Arc::new(Gate::default());
        let other = gate.clone();
        let caller = tasks.spawn(async move {
            gate.pass(place);
            let mut ball = 0u64;
            for _ in 0..trips {
                there.send(ball).await.expect("it is open");
                ball = near.recv().await.expect("it is open");
            }
            ball
        });
        let echo = tasks.spawn(async move {
            other.pass(place);
            for _ in 0..trips {
                let ball = far.recv().await.expect("it is open");
                back.send(ball + 1).await.expect("it is open");
            }
        });
        let ball = caller.await;
        echo.await;
        laps.end();
        assert_eq!(ball, trips, "a message was lost or came twice");
    }
    laps.per_operation(trips);
}

async fn messages(job: Job, shape: Shape, tasks: Tasks) {
    let each = job.n / shape.senders;
    let total = each * shape.senders;
    let capacity = shape.capacity.expect("the cases on fibers are bounded");
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let (sender, receiver) = bounded(capacity);
        let receive = || {
            let receiver = receiver.clone();
            tasks.spawn(async move {
                let mut sum = 0u64;
                while let Ok(value) = receiver.recv().await {
                    sum += value;
                }
                sum
            })
        };
        let receivers: Vec<_> = (0..shape.receivers).map(|_| receive()).collect();
        for at in 0..shape.senders {
            let sender = sender.clone();
            let send = async move {
                for value in at * each..(at + 1) * each {
                    sender.send(value).await.expect("it is open");
                }
            };
            tasks.spawn(send).detach();
        }
        drop(sender);
        let mut sum = 0;
        for one in receivers {
            sum += one.await;
        }
        laps.end();
        assert_eq!(sum, sum_below(total), "a message was lost or came twice");
    }
    laps.per_operation(total);
}

async fn crowd(job: Job, count: u64, tasks: Tasks) {
    let each = job.n / count;
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let mutex = Arc::new(Mutex::new(0u64));
        let work = |mutex: Arc<Mutex<u64>>| async move {
            for _ in 0..each {
                *mutex.lock().await += 1;
            }
        };
        let all: Vec<_> = (0..count)
            .map(|_| tasks.spawn(work(mutex.clone())))
            .collect();
        for one in all {
            one.await;
        }
        laps.end();
        assert_eq!(*mutex.lock().await, each * count);
    }
    laps.per_operation(each * count);
}

async fn timer(job: Job) {
    let mut laps = Laps::new(&job);
    while laps.begin() {
        for _ in 0..job.n {
            let mut timer = pin!(Timer::after(Duration::from_secs(3600)));
            let armed =
                poll_fn(|context| Poll::Ready(timer.as_mut().poll(context).is_pending()));
            assert!(armed.await, "an hour is long");
        }
        laps.end();
    }
    laps.per_operation(job.n);
}

async fn sleepers(job: Job, tasks: Tasks) {
    let all = Sleepers::new(&job);
    let task = |number| async move {
        all.begins();
        Timer::at(all.deadline(number)).await;
        all.woke(number);
    };
    let each: Vec<_> = (0..job.n).map(|number| tasks.spawn(task(number))).collect();
    while all.more_to_begin() {
        Timer::after(PAUSE).await;
    }
    let before = all.all_begun();
    for one in each {
        one.await;
    }
    all.report(before)
}

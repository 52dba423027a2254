//! pirn's part: on fibers of a runtime, and its channels between plain threads.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pirn::channel::{Receiver, Sender, bounded};
use pirn::runtime::Runtime;
use pirn::sync::Mutex;
use pirn::{select, spawn};

use crate::case::Talk;
use crate::child::{Job, Laps, Outcome, Skip, sample};

use super::blocking::{messages, ping_pong};
use super::channel::Pirn;
use super::home::{Fibers, Home, Threads};
use super::sleepers::{PAUSE, Sleepers};
use super::stock::Stock;

pub(in crate::peers) fn run_on_threads(job: &Job, work: Talk) -> Outcome {
    match work {
        Talk::PingPong(place) => ping_pong::<Pirn, Threads>(job, place),
        Talk::Messages(shape) => messages::<Pirn, Threads>(job, shape),
        _ => Err(Skip("not for plain threads")),
    }
}

pub(in crate::peers) fn run(job: &Job, work: Talk, runtime: &Runtime) -> Outcome {
    runtime.run(|| match work {
        Talk::PingPong(place) => ping_pong::<Pirn, Fibers>(job, place),
        Talk::Messages(shape) => messages::<Pirn, Fibers>(job, shape),
        Talk::Select(2) => choose::<2>(job, |[a, b]| {
            select! {
                recv(a) -> value => value,
                recv(b) -> value => value,
            }
            .expect("there are values")
        }),
        Talk::Select(8) => choose::<8>(job, |[a, b, c, d, e, f, g, h]| {
            select! {
                recv(a) -> value => value,
                recv(b) -> value => value,
                recv(c) -> value => value,
                recv(d) -> value => value,
                recv(e) -> value => value,
                recv(f) -> value => value,
                recv(g) -> value => value,
                recv(h) -> value => value,
            }
            .expect("there are values")
        }),
        Talk::Select(_) => Err(Skip("no such case")),
        Talk::Crowd(fibers) => {
            crowd(job, fibers);
            Ok(())
        }
        Talk::Timer => {
            timer(job);
            Ok(())
        }
        Talk::Sleepers => sleepers(job),
    })
}

fn choose<const WAYS: usize>(
    job: &Job,
    one: impl Fn(&[Receiver<u64>; WAYS]) -> u64,
) -> Outcome {
    let mut stock = Stock::new(job, WAYS);
    let (senders, receivers): (Vec<Sender<u64>>, Vec<_>) =
        (0..WAYS).map(|_| bounded(stock.each())).unzip();
    let receivers = receivers.try_into().expect("so many were opened");
    let mut laps = Laps::new(job);
    loop {
        stock.fill(|way, value| senders[way].send(value).expect("it is open"));
        if !laps.begin() {
            break;
        }
        let sum: u64 = (0..job.n).map(|_| one(&receivers)).sum();
        laps.end();
        stock.taken(sum, |way| receivers[way].try_recv().ok());
    }
    laps.per_operation(job.n);
    Ok(())
}

fn crowd(job: &Job, fibers: u64) {
    let each = job.n / fibers;
    let mut laps = Laps::new(job);
    while laps.begin() {
        let mutex = Arc::new(Mutex::new(0u64));
        let work = |mutex: Arc<Mutex<u64>>| {
            move || {
                for _ in 0..each {
                    *mutex.lock() += 1;
                }
                0
            }
        };
        let all: Vec<_> = (0..fibers)
            .map(|_| Fibers::spawn(work(mutex.clone())))
            .collect();
        for one in all {
            Fibers::join(one);
        }
        laps.end();
        assert_eq!(*mutex.lock(), each * fibers);
    }
    laps.per_operation(each * fibers);
}

/// Arming happens where a fiber parks, so two ping-pongs are timed in turn, in which every
/// receive parks: one with deadlines and one without. Both are halved, and their difference is the
/// cost of a deadline.
fn timer(job: &Job) {
    for round in 0..job.warmups + job.rounds {
        let plain = waits(job.n, |receiver| receiver.recv().expect("it is open"));
        let timed = waits(job.n, |receiver| {
            receiver
                .recv_timeout(Duration::from_secs(3600))
                .expect("it is open, and an hour is long")
        });
        if round >= job.warmups {
            sample("wait", plain);
            sample("timed", timed);
            sample("op", timed - plain);
        }
    }
}

/// Nanoseconds for a receive that parks, with the send that ends it.
fn waits(count: u64, receive: fn(&Receiver<u64>) -> u64) -> f64 {
    let trips = count / 2;
    let (there, far) = bounded(0);
    let (back, near) = bounded(0);
    let started = Instant::now();
    let echo = spawn(move || {
        for _ in 0..trips {
            back.send(receive(&far) + 1).expect("it is open");
        }
    });
    let mut ball = 0;
    for _ in 0..trips {
        there.send(ball).expect("it is open");
        ball = receive(&near);
    }
    echo.join().expect("no fiber panics");
    let nanos = started.elapsed().as_nanos() as f64 / (2 * trips) as f64;
    assert_eq!(ball, trips, "a message was lost or came twice");
    nanos
}

fn sleepers(job: &Job) -> Outcome {
    let all = Sleepers::new(job);
    let mut before = Duration::ZERO;
    pirn::scope(|scope| {
        for number in 0..job.n {
            scope.spawn(move || {
                all.begins();
                pirn::time::sleep_until(all.deadline(number)).expect("it is not cancelled");
                all.woke(number);
            });
        }
        while all.more_to_begin() {
            pirn::sleep(PAUSE).expect("it is not cancelled");
        }
        before = all.all_begun();
    });
    all.report(before)
}

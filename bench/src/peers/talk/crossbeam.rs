//! crossbeam's part: its channels between plain threads.

use crossbeam::channel::{Receiver, Sender, select, unbounded};

use crate::case::Talk;
use crate::child::{Job, Laps, Outcome, Skip};

use super::blocking::{messages, ping_pong};
use super::channel::Crossbeam;
use super::home::Threads;
use super::stock::Stock;

pub(in crate::peers) fn run(job: &Job, work: Talk) -> Outcome {
    match work {
        Talk::PingPong(place) => ping_pong::<Crossbeam, Threads>(job, place),
        Talk::Messages(shape) => messages::<Crossbeam, Threads>(job, shape),
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
        Talk::Crowd(_) => Err(Skip("no mutex")),
        Talk::Select(_) | Talk::Timer | Talk::Sleepers => Err(Skip("no such case")),
    }
}

fn choose<const WAYS: usize>(
    job: &Job,
    one: impl Fn(&[Receiver<u64>; WAYS]) -> u64,
) -> Outcome {
    let (senders, receivers): (Vec<Sender<u64>>, Vec<_>) =
        (0..WAYS).map(|_| unbounded()).unzip();
    let receivers = receivers.try_into().expect("so many were opened");
    let mut laps = Laps::new(job);
    let mut stock = Stock::new(job, WAYS);
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

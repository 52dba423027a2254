//! may's part.

use std::sync::Arc;

use may::sync::Mutex;

use crate::case::Talk;
use crate::child::{Job, Laps, Outcome, Skip};

use super::blocking::ping_pong;
use super::channel::May;
use super::home::{Coroutines, Home};

pub(in crate::peers) fn run(job: &Job, work: Talk) -> Outcome {
    if work.on_threads() {
        return Err(Skip("not made for plain threads"));
    }
    match work {
        Talk::PingPong(place) => ping_pong::<May, Coroutines>(job, place),
        Talk::Crowd(fibers) => {
            crowd(job, fibers);
            Ok(())
        }
        Talk::Messages(_) => Err(Skip("no bounded channel")),
        Talk::Select(_) => Err(Skip("its select starts a coroutine for each arm")),
        Talk::Timer => Err(Skip("no timer by itself")),
        Talk::Sleepers => Err(Skip("no room for so many coroutines")),
    }
}

fn crowd(job: &Job, fibers: u64) {
    let each = job.n / fibers;
    let mut laps = Laps::new(job);
    while laps.begin() {
        let mutex = Arc::new(Mutex::new(0u64));
        let work = |mutex: Arc<Mutex<u64>>| {
            move || {
                for _ in 0..each {
                    *mutex.lock().expect("no coroutine panics") += 1;
                }
                0
            }
        };
        let all: Vec<_> = (0..fibers)
            .map(|_| Coroutines::spawn(work(mutex.clone())))
            .collect();
        for one in all {
            Coroutines::join(one);
        }
        laps.end();
        assert_eq!(*mutex.lock().expect("no coroutine panics"), each * fibers);
    }
    laps.per_operation(each * fibers);
}

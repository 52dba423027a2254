//! std's part: its channels, and its mutex on a few threads.

use std::sync::{Arc, Mutex};
use std::thread;

use crate::case::Talk;
use crate::child::{Job, Laps, Outcome, Skip};

use super::blocking::{messages, ping_pong};
use super::channel::Std;
use super::home::Threads;

/// As many threads as there are fibers would measure the starting of threads.
const CROWD: u64 = 4;

pub(in crate::peers) fn run(job: &Job, work: Talk) -> Outcome {
    match work {
        Talk::PingPong(place) => ping_pong::<Std, Threads>(&job.smaller(5), place),
        Talk::Messages(shape) => messages::<Std, Threads>(job, shape),
        Talk::Crowd(_) => {
            crowd(job);
            Ok(())
        }
        Talk::Select(_) => Err(Skip("no select")),
        Talk::Timer => Err(Skip("no timers")),
        Talk::Sleepers => Err(Skip("too many threads")),
    }
}

fn crowd(job: &Job) {
    let each = job.n / CROWD;
    let mut laps = Laps::new(job);
    while laps.begin() {
        let mutex = Arc::new(Mutex::new(0u64));
        let work = |mutex: Arc<Mutex<u64>>| {
            move || {
                for _ in 0..each {
                    *mutex.lock().expect("no thread panics") += 1;
                }
            }
        };
        let all: Vec<_> = (0..CROWD)
            .map(|_| thread::spawn(work(mutex.clone())))
            .collect();
        for one in all {
            one.join().expect("no thread panics");
        }
        laps.end();
        assert_eq!(*mutex.lock().expect("no thread panics"), each * CROWD);
    }
    laps.per_operation(each * CROWD);
}

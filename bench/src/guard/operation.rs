//! The operations of the guard, all of one thread.

use std::time::{Duration, Instant};

use super::client::counted;
use super::control;
use super::pirn;

/// One operation that can be repeated.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The name in the baseline.
    pub name: &'static str,
    /// The repeated code.
    pub title: &'static str,
    /// Calls its argument in the context of the operation, on a fiber of a runtime with one worker.
    pub(super) home: fn(body: &mut (dyn FnMut() + Send)),
    /// Repeats the operation.
    pub(super) repeat: fn(times: u64),
}

/// All operations.
pub fn operations() -> &'static [Operation] {
    OPERATIONS
}

/// Returns the operation of that name.
pub fn find(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.name == name)
}

impl Operation {
    /// Repeats the operation, so that a tool around the process can count.
    pub fn repeat(&self, times: u64) {
        (self.home)(&mut || counted(|| (self.repeat)(times)));
    }

    /// Times `rounds` rounds of `times` repetitions after one that is not counted, as
    /// nanoseconds for one. Every round sleeps for `injected` as well.
    pub fn time(&self, rounds: u64, times: u64, injected: Duration) -> Vec<f64> {
        let mut nanos = Vec::new();
        (self.home)(&mut || {
            for _ in 0..=rounds {
                let started = Instant::now();
                (self.repeat)(times);
                if !injected.is_zero() {
                    std::thread::sleep(injected);
                }
                nanos.push(started.elapsed().as_nanos() as f64 / times as f64);
            }
        });
        nanos.split_off(1)
    }
}

const OPERATIONS: &[Operation] = &[
    control::SWITCH,
    pirn::YIELD,
    pirn::SPAWN_JOIN,
    pirn::SPAWN_BATCH,
    pirn::CHANNEL,
    pirn::BUFFERED,
    pirn::RENDEZVOUS,
    pirn::SELECT_TWO,
    pirn::SELECT_EIGHT,
    pirn::TIMER,
    pirn::MUTEX,
];

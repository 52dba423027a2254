//! The operations of the guard, all of one thread.

use std::hint::black_box;
use std::time::{Duration, Instant};

use corosensei::Coroutine;

use super::client::counted;
use super::pirn;

/// One operation that can be repeated.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The name in the baseline.
    pub name: &'static str,
    /// Repeats the operation.
    repeat: fn(times: u64),
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
        self.at_home(&mut || counted(|| (self.repeat)(times)));
    }

    /// Times `rounds` rounds of `times` repetitions after one that is not counted, as
    /// nanoseconds for one. Every round sleeps for `injected` as well.
    pub fn time(&self, rounds: u64, times: u64, injected: Duration) -> Vec<f64> {
        let mut nanos = Vec::new();
        self.at_home(&mut || {
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

    /// Calls `body` in the context of the operation.
    fn at_home(&self, body: &mut (dyn FnMut() + Send)) {
        match self.name {
            CONTROL => body(),
            _ => pirn::on_fiber(body),
        }
    }
}

/// An operation without pirn: if its count changes, the compiler or the counter has changed.
const CONTROL: &str = "control";

/// Resumes and suspends a bare coroutine.
fn switch(times: u64) {
    let mut coroutine = Coroutine::new(|yielder, mut go_on: bool| {
        while go_on {
            go_on = yielder.suspend(());
        }
    });
    for _ in 0..times {
        black_box(coroutine.resume(true));
    }
    coroutine.resume(false);
}

const fn operation(name: &'static str, repeat: fn(u64)) -> Operation {
    Operation { name, repeat }
}

const OPERATIONS: &[Operation] = &[
    operation(CONTROL, switch),
    operation("yield", pirn::yields),
    operation("spawn-join", pirn::spawn_join),
    operation("spawn-batch", pirn::spawn_batch),
    operation("channel", pirn::channel),
    operation("buffered", pirn::buffered),
    operation("rendezvous", pirn::rendezvous),
    operation("select-2", pirn::select_two),
    operation("select-8", pirn::select_eight),
    operation("timer", pirn::timer),
    operation("sleeper", pirn::sleeper),
    operation("mutex", pirn::mutex),
];

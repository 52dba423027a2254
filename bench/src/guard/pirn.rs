//! The measured operations of pirn, on a runtime with one worker.

use std::cell::Cell;
use std::hint::black_box;
use std::time::Duration;

use pirn::channel::bounded;
use pirn::runtime::Runtime;
use pirn::spawn::park_timeout;
use pirn::sync::Mutex;
use pirn::{spawn, yield_now};

use super::Operation;

pub(super) const YIELD: Operation = Operation {
    name: "yield",
    title: "two fibers yield to each other, one yield",
    home,
    repeat: yields,
};

pub(super) const SPAWN_JOIN: Operation = Operation {
    name: "spawn-join",
    title: "spawn an empty fiber and join it",
    home,
    repeat: spawn_join,
};

pub(super) const SPAWN_BATCH: Operation = Operation {
    name: "spawn-batch",
    title: "one of a hundred fibers spawned into a scope that waits for all",
    home,
    repeat: spawn_batch,
};

pub(super) const CHANNEL: Operation = Operation {
    name: "channel",
    title: "send into a bounded channel with room and receive",
    home,
    repeat: channel,
};

pub(super) const BUFFERED: Operation = Operation {
    name: "buffered",
    title: "a message from one fiber to another through a buffer of 100",
    home,
    repeat: buffered,
};

pub(super) const RENDEZVOUS: Operation = Operation {
    name: "rendezvous",
    title: "a value to another fiber and back over two rendezvous channels",
    home,
    repeat: rendezvous,
};

pub(super) const SELECT_TWO: Operation = Operation {
    name: "select-2",
    title: "select over two channels, the one that has a value; send it another",
    home,
    repeat: select_two,
};

pub(super) const SELECT_EIGHT: Operation = Operation {
    name: "select-8",
    title: "select over eight channels, the one that has a value; send it another",
    home,
    repeat: select_eight,
};

pub(super) const TIMER: Operation = Operation {
    name: "timer",
    title: "park with a time limit and be unparked before it: arm, cancel, two switches",
    home,
    repeat: timer,
};

pub(super) const MUTEX: Operation = Operation {
    name: "mutex",
    title: "lock and unlock a free mutex",
    home,
    repeat: mutex,
};

fn home(body: &mut (dyn FnMut() + Send)) {
    let runtime = Runtime::builder()
        .workers(1)
        .build()
        .expect("a runtime starts");
    runtime.run(body);
}

fn yields(times: u64) {
    let other = spawn(move || (0..times / 2).for_each(|_| yield_now()));
    (0..times / 2).for_each(|_| yield_now());
    let _ = other.join();
}

fn spawn_join(times: u64) {
    for _ in 0..times {
        let _ = spawn(|| {}).join();
    }
}

fn spawn_batch(times: u64) {
    for _ in 0..times / 100 {
        pirn::scope(|scope| {
            for index in 0..100 {
                scope.spawn(move || {
                    black_box(index);
                });
            }
        });
    }
}

fn channel(times: u64) {
    let (sender, receiver) = bounded(64);
    for index in 0..times {
        let _ = sender.send(index);
        let _ = black_box(receiver.recv());
    }
}

fn buffered(times: u64) {
    let (sender, receiver) = bounded(100);
    let sending = spawn(move || {
        for index in 0..times {
            let _ = sender.send(index);
        }
    });
    for _ in 0..times {
        let _ = black_box(receiver.recv());
    }
    let _ = sending.join();
}

fn rendezvous(times: u64) {
    let (there, far) = bounded(0);
    let (back, near) = bounded(0);
    let echo = spawn(move || {
        while let Ok(ball) = far.recv() {
            let _ = back.send(ball);
        }
    });
    for index in 0..times {
        let _ = there.send(index);
        let _ = black_box(near.recv());
    }
    drop(there);
    let _ = echo.join();
}

/// In the order of the arms, and with the value in the middle one: a random choice would count
/// differently from run to run.
fn select_two(times: u64) {
    let ends: [_; 2] = std::array::from_fn(|_| bounded(1));
    let [a, b] = ends.each_ref().map(|(_, receiver)| receiver);
    for index in 0..times {
        let _ = ends[1].0.send(index);
        let _ = black_box(pirn::select! {
            biased;
            recv(a) -> value => value,
            recv(b) -> value => value,
        });
    }
}

fn select_eight(times: u64) {
    let ends: [_; 8] = std::array::from_fn(|_| bounded(1));
    let [a, b, c, d, e, f, g, h] = ends.each_ref().map(|(_, receiver)| receiver);
    for index in 0..times {
        let _ = ends[4].0.send(index);
        let _ = black_box(pirn::select! {
            biased;
            recv(a) -> value => value,
            recv(b) -> value => value,
            recv(c) -> value => value,
            recv(d) -> value => value,
            recv(e) -> value => value,
            recv(f) -> value => value,
            recv(g) -> value => value,
            recv(h) -> value => value,
        });
    }
}

fn timer(times: u64) {
    let sleeper = spawn(move || {
        for _ in 0..times {
            park_timeout(Duration::from_secs(3600));
        }
    });
    while !sleeper.is_finished() {
        sleeper.fiber().unpark();
        yield_now();
    }
    let _ = sleeper.join();
}

fn mutex(times: u64) {
    let mutex = Mutex::new(Cell::new(0u64));
    for _ in 0..times {
        let guard = mutex.lock();
        guard.set(guard.get() + 1);
    }
    black_box(mutex.into_inner());
}

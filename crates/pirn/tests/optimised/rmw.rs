//! How many read-modify-writes the common operations execute, counted in the machine code as it
//! runs: a child works on a runtime with one worker, and this process steps that worker instruction
//! by instruction and decodes each.
//!
//! `tracer` steps; `decode` recognizes a read-modify-write. The counted operations stand here, each
//! below its limit. Where stepping is not allowed a test is skipped.
//!
//! Only optimised code is counted, in the profile `fat`: other code executes more of everything,
//! and a step takes tens of microseconds on a virtual machine.

use pirn::channel::bounded;
use pirn::par::join;
use pirn::sync::Mutex;
use pirn::{select, spawn, yield_now};

use crate::child::{OPERATIONS, begin, end};
use crate::tracer::{limit, limit_on, limit_with_clock};

/// The steps before the counted ones: by then memory is cached, and both parties have started.
const WARM: u64 = 300;

/// A capacity that divides the number of operations, so that sends and receives balance.
const CAPACITY: usize = 20;

fn send_and_receive(capacity: usize) {
    let count = OPERATIONS;
    let (sender, receiver) = bounded(capacity);
    let sending = spawn(move || {
        for value in 0..2 * WARM + count {
            sender.send(value).expect("it is open");
        }
    });
    let receive = |values: std::ops::Range<u64>| {
        for value in values {
            assert_eq!(receiver.recv(), Ok(value));
        }
    };
    receive(0..WARM);
    begin();
    receive(WARM..WARM + count);
    end();
    receive(WARM + count..2 * WARM + count);
    sending.join().expect("it does not panic");
}

// Proves: R8.
#[test]
fn a_message_without_a_waiter() {
    limit("rmw::a_message_without_a_waiter", 2.0, || {
        let (sender, receiver) = bounded(CAPACITY);
        begin();
        for value in 0..OPERATIONS {
            sender.send(value).expect("it is open");
            assert_eq!(receiver.recv(), Ok(value));
        }
        end();
    });
}

/// Once for each buffer's length both wait for each other, which costs as much as a rendezvous in
/// both directions.
// Proves: P2, R8.
#[test]
fn a_message_from_one_fiber_to_another() {
    let most = 2.0 + 8.0 / CAPACITY as f64;
    limit("rmw::a_message_from_one_fiber_to_another", most, || {
        send_and_receive(CAPACITY);
    });
}

// Proves: R8.
#[test]
fn a_rendezvous_there_and_back() {
    limit("rmw::a_rendezvous_there_and_back", 8.0, || {
        let trips = OPERATIONS;
        let (there, far) = bounded(0);
        let (back, near) = bounded(0);
        let echo = spawn(move || {
            while let Ok(ball) = far.recv() {
                back.send(ball + 1).expect("it is open");
            }
        });
        let play = |first: u64, trips: u64| {
            for ball in first..first + trips {
                there.send(ball).expect("it is open");
                assert_eq!(near.recv(), Ok(ball + 1));
            }
        };
        play(0, WARM);
        begin();
        play(WARM, trips);
        end();
        drop(there);
        echo.join().expect("it does not panic");
    });
}

// Proves: R8.
#[test]
fn a_rendezvous_one_way() {
    limit("rmw::a_rendezvous_one_way", 4.0, || send_and_receive(0));
}

/// The clock is read once in a round of maintenance. While the worker is stepped, its fibers run
/// for so long that a round has two dispatches, as an operation has: one of each fiber.
// Proves: E6, P2, R8.
#[test]
fn a_yield() {
    limit_with_clock("rmw::a_yield", 0.0, 2.0, || {
        let count = OPERATIONS;
        let yields = move || (0..2 * WARM + count).for_each(|_| yield_now());
        let other = spawn(yields);
        (0..WARM).for_each(|_| yield_now());
        begin();
        (0..count).for_each(|_| yield_now());
        end();
        other.join().expect("it does not panic");
    });
}

// Proves: E7, O12, P2, R8.
#[test]
fn a_spawn_and_its_join() {
    limit("rmw::a_spawn_and_its_join", 6.0, || {
        let spawns = |count: u64| {
            for _ in 0..count {
                spawn(|| {}).join().expect("it does not panic");
            }
        };
        spawns(WARM);
        begin();
        spawns(OPERATIONS);
        end();
    });
}

/// The lock of the outcome, and nothing else.
// Proves: O12.
#[test]
fn a_wait_for_a_fiber_that_has_ended() {
    limit("rmw::a_wait_for_a_fiber_that_has_ended", 1.0, || {
        let ended = spawn(|| {});
        ended.wait().expect("no interrupt");
        begin();
        for _ in 0..OPERATIONS {
            ended.wait().expect("no interrupt");
        }
        end();
    });
}

/// A second half that is never requested: pushed and popped.
// Proves: O9-cost.
#[test]
fn a_join() {
    fn leaves(depth: u32) -> u64 {
        match depth {
            0 => 1,
            _ => {
                let (a, b) = join(|| leaves(depth - 1), || leaves(depth - 1));
                a + b
            }
        }
    }
    limit_on(0, "rmw::a_join", 0.0, || {
        // The first join checks for requests, since no join has done so yet.
        assert_eq!(leaves(4), 16);
        begin();
        let sum: u64 = (0..OPERATIONS / 10).map(|_| leaves(4)).sum();
        end();
        assert_eq!(sum, 160);
    });
}

/// The same with the region of the halves: the optimizer lays out all frames of such a join as it
/// likes.
// Proves: O9-region.
#[test]
fn what_holds_for_both_halves() {
    let runtime = pirn::Runtime::builder()
        .workers(1)
        .build()
        .expect("it starts");
    let far = || pirn::time::now() + std::time::Duration::from_secs(1_000);
    let limited = || pirn::cancel::deadline().is_some();
    runtime.run(|| {
        for _ in 0..20 {
            let shielded = || pirn::cancel::shield(|| join(yield_now, limited).1);
            assert!(!pirn::cancel::with_deadline(far(), shielded));
            let inside = || pirn::cancel::with_deadline(far(), yield_now);
            assert!(!join(inside, limited).1);
            let token = pirn::cancel::Token::new();
            let both =
                || join(yield_now, || pirn::cancel::Token::current().is_cancelled());
            let seen = token.enter(|| {
                join(
                    || {
                        yield_now();
                        token.cancel();
                        both().1
                    },
                    || {
                        while pirn::cancel::check().is_ok() {
                            yield_now();
                        }
                    },
                )
            });
            assert!(seen.0);
        }
    });
}

// Proves: R8.
#[test]
fn a_lock_and_its_unlock() {
    limit("rmw::a_lock_and_its_unlock", 2.0, || {
        let mutex = Mutex::new(0);
        begin();
        (0..OPERATIONS).for_each(|_| *mutex.lock() += 1);
        end();
        assert_eq!(mutex.into_inner(), OPERATIONS);
    });
}

/// The cost of a receive; the choice itself adds none.
// Proves: R8.
#[test]
fn a_select_that_need_not_wait() {
    limit("rmw::a_select_that_need_not_wait", 1.0, || {
        let count = OPERATIONS;
        let (sender, a) = bounded(count as usize);
        let (other, b) = bounded(count as usize);
        for value in 0..count {
            sender.send(value).expect("it is open");
            other.send(value).expect("it is open");
        }
        begin();
        for _ in 0..count {
            select! {
                recv(a) -> value => drop(value.expect("there are values")),
                recv(b) -> value => drop(value.expect("there are values")),
            }
        }
        end();
    });
}

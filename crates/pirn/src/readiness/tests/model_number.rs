//! Models: calls on a number of a descriptor, beside events, other calls, ends of the number, and
//! the end of a worker. No call waits for ever. None that has waited for one object takes an item
//! of the next one.
//!
//! A lost event leaves its call waiting indefinitely: a deadlock, which loom reports.

use std::sync::Arc;

use super::fixture::{Socket, fiber, join, serve_common, socket, spawn, worker};
use crate::base::tests::explore::explore;
use crate::fiber::tests::stage::Block;
use crate::readiness::number::{Known, Number, NumberWait};
use crate::readiness::{Interest, common, evacuate};
use crate::shim::atomic::{AtomicUsize, Ordering};
use crate::shim::thread::{self, JoinHandle};

fn number() -> Arc<Number> {
    Arc::new(Number::with_source())
}

fn look(number: &Number) -> Known {
    number.look().expect("a site")
}

fn wait(
    socket: &'static Socket,
    number: &Number,
    known: Known,
    interest: Interest,
) -> NumberWait {
    let waited = number.wait((&socket.wire, "read"), known, interest, None);
    waited.expect("nothing else ends the wait")
}

/// Takes one item in a call, as `pirn-hooks` does. Returns the number of the object; `None` if the
/// number has ended.
fn call(socket: &'static Socket, number: &Number, interest: Interest) -> Option<usize> {
    let first = look(number);
    let (mut known, mut waited_for) = (first, None);
    loop {
        if let Ok(object) = socket.attempt(interest) {
            if let Some(waited_for) = waited_for {
                assert_eq!(object as u32, waited_for, "an item of the next object");
            }
            return Some(object);
        }
        match wait(socket, number, known, interest) {
            // In these models an object ends when its number does.
            NumberWait::MaySucceed => waited_for = Some(first.ends()),
            NumberWait::HasEnded => return None,
            // The end began before the call.
            NumberWait::IsEnding => thread::yield_now(),
        }
        known = look(number);
        if known.ends() != first.ends() {
            return None;
        }
    }
}

/// Replaces the object by the next one, with so many things to read.
fn replace(socket: &Socket, number: &Number, things: usize) {
    number.begin_end(true);
    socket.reopen(things);
    number.finish_end();
}

/// The descriptor was closed past libc, so the system has removed the registration.
// Proves: T7.
#[test]
fn model_call_after_an_unseen_end() {
    explore("call_unseen", 3, || {
        let (socket, block) = (socket(0), fiber());
        let number = number();
        worker(0).play(&block, || {
            socket.add(1, 0);
            wait(socket, &number, look(&number), Interest::Readable);
            socket.reopen(0);
            let adder = spawn(move || socket.add(1, 0));
            let known = look(&number);
            if socket.attempt(Interest::Readable).is_err() {
                wait(socket, &number, known, Interest::Readable);
            }
            join([adder]);
        });
    });
}

/// A call that reads and one that writes, with one registration: none removes the other's side.
// Proves: T7.
#[test]
fn model_call_of_each_side() {
    explore("call_sides", 2, || {
        let (socket, blocks) = (socket(0), [fiber(), fiber()]);
        let number = number();
        common::start().expect("a poller");
        let done = Arc::new(AtomicUsize::new(0));
        let start = |block: &Arc<Block>, interest| -> JoinHandle<()> {
            let (number, done) = (Arc::clone(&number), Arc::clone(&done));
            block.start(move || {
                call(socket, &number, interest);
                done.fetch_add(1, Ordering::AcqRel);
                common::ring();
            })
        };
        let calls = [
            start(&blocks[0], Interest::Readable),
            start(&blocks[1], Interest::Writable),
        ];
        socket.add(1, 1);
        serve_common(|| done.load(Ordering::Acquire) == calls.len());
        join(calls);
    });
}

/// The number ends at any point of a call, and stands for the next object at once, from which
/// something can be read.
// Proves: T7.
#[test]
fn model_call_against_an_end() {
    explore("call_end", 3, || {
        let (socket, block) = (socket(0), fiber());
        let number = number();
        worker(0).play(&block, || {
            let closer = {
                let number = Arc::clone(&number);
                spawn(move || replace(socket, &number, 1))
            };
            call(socket, &number, Interest::Readable);
            join([closer]);
        });
    });
}

/// Like [`model_call_against_an_end`]; nothing can be read from the next object, and another call
/// has found that out.
// Proves: T7.
#[test]
fn model_call_against_an_end_and_a_next_call() {
    explore("call_next", 3, || {
        let (socket, block) = (socket(0), fiber());
        let number = number();
        worker(0).play(&block, || {
            let closer = {
                let number = Arc::clone(&number);
                spawn(move || {
                    replace(socket, &number, 0);
                    let known = look(&number);
                    assert!(socket.attempt(Interest::Readable).is_err());
                    number.set_emptied(known, Interest::Readable);
                })
            };
            let known = look(&number);
            if known.ends() == 0 && socket.attempt(Interest::Readable).is_err() {
                let waited = wait(socket, &number, known, Interest::Readable);
                assert!(!matches!(waited, NumberWait::MaySucceed), "{waited:?}");
            }
            join([closer]);
        });
    });
}

/// A worker ends while one of its fibers waits in a call, or is about to; an earlier call has left
/// the number in its driver.
// Proves: T7.
#[test]
fn model_call_against_the_end_of_its_worker() {
    explore("call_evacuated", 2, || {
        let (socket, block) = (socket(0), fiber());
        let number = number();
        worker(0).play(&block, || {
            socket.add(1, 0);
            wait(socket, &number, look(&number), Interest::Readable);
            socket.attempt(Interest::Readable).expect("an item");
        });
        let done = Arc::new(AtomicUsize::new(0));
        let caller = {
            let (number, done) = (Arc::clone(&number), Arc::clone(&done));
            worker(0).start(&block, move || {
                call(socket, &number, Interest::Readable);
                done.fetch_add(1, Ordering::AcqRel);
                common::ring();
            })
        };
        evacuate(&worker(0).driver);
        socket.add(1, 0);
        serve_common(|| done.load(Ordering::Acquire) == 1);
        join([caller]);
    });
}

//! Models: a site with its waiters, delivered events, a change of its driver, and the next source
//! that takes it. No event is lost, and none reaches the wrong source.
//!
//! A lost event leaves its waiter in its driver indefinitely: a deadlock, which loom reports.

use std::sync::Arc;

use super::fixture::{ask_common, fiber, join, socket, source, spawn, worker};
use crate::base::tests::explore::explore;
use crate::readiness::{Interest, Source, notify_all};
use crate::sys::poller::Events;
use crate::wait::{Reason, Spec};

/// Another thread fetches and delivers the event: before, during and after an attempt; before and
/// after the waiter has joined its queue; in parallel with the worker, which fetches too.
// Proves: N6-X-events.
#[test]
fn model_site_event_against_a_waiter() {
    explore("site_event", 3, || {
        let (socket, block, source) = (socket(0), fiber(), source());
        worker(0).play(&block, || {
            source
                .register_here(&socket.wire)
                .expect("it can be watched");
            let rescuer = {
                let source = Arc::clone(&source);
                spawn(move || {
                    socket.add(1, 0);
                    source.ask_in_place();
                })
            };
            socket.operate(&source, Interest::Readable);
            join([rescuer]);
        });
    });
}

/// An event is fetched, and delivered after its source is gone. It does not wake the next source
/// that takes the site, which is woken by its own event.
// Proves: N6.
#[test]
fn model_site_event_of_an_earlier_generation() {
    explore("site_generation", 3, || {
        let (old, new, block) = (socket(0), socket(1), fiber());
        worker(0).play(&block, || {
            let first = Source::new().expect("a site");
            first.register_here(&old.wire).expect("it can be watched");
            old.add(1, 0);
            let mut fetched = Events::new();
            worker(0).driver.poll(&mut fetched);
            let late = spawn(move || {
                notify_all(&fetched);
                new.add(1, 0);
            });
            drop(first);
            let second = Source::new().expect("the same site");
            second.register_here(&new.wire).expect("it can be watched");
            let seen = second.look();
            if !new.has_things() {
                second.clear(seen, Interest::Readable);
            }
            let spec = Spec::of(Reason::Readable);
            second
                .wait(&new.wire, Interest::Readable, &spec)
                .expect("nothing else ends the wait");
            assert!(new.has_things(), "woken by an event of the first source");
            join([late]);
        });
    });
}

/// A source takes a site as soon as another one frees it: its events carry its own generation.
#[test]
fn model_site_taken_when_it_is_given_back() {
    explore("site_taken", 3, || {
        let (old, new, blocks) = (socket(0), socket(1), [fiber(), fiber()]);
        let first = Source::new().expect("a site");
        let next = worker(1).start(&blocks[1], || {
            let second = Source::new().expect("a site");
            new.operate(&second, Interest::Readable);
        });
        worker(0).play(&blocks[0], || {
            first.register_here(&old.wire).expect("it can be watched");
            drop(first);
        });
        new.add(1, 0);
        join([next]);
    });
}

/// A fiber of another worker moves the source to its own driver while a fiber waits for it, or is
/// about to. The other worker fetches nothing after that, so the source must not stay in its
/// driver. After the move the waiter's worker sees that its fiber waits (`awaits`).
// Proves: N6-X-events.
#[test]
fn model_site_move_against_a_waiter() {
    explore("site_move", 3, || {
        let (socket, blocks, source) = (socket(0), [fiber(), fiber()], source());
        let waiter = {
            let source = Arc::clone(&source);
            worker(0).start(&blocks[0], move || {
                socket.operate(&source, Interest::Readable);
            })
        };
        let mover = {
            let source = Arc::clone(&source);
            worker(1).start(&blocks[1], move || {
                source
                    .register_here(&socket.wire)
                    .expect("it can be watched");
            })
        };
        join([mover]);
        worker(0).look_before_a_jump();
        socket.add(1, 0);
        ask_common();
        join([waiter]);
    });
}

/// Like [`model_site_move_against_a_waiter`]; the waiter's worker checks at any point of the move.
#[test]
fn model_site_move_against_a_look() {
    explore("site_move_look", 2, || {
        let blocks = [fiber(), fiber(), fiber()];
        let (socket, source) = (socket(0), source());
        worker(0).play(&blocks[2], || {
            source
                .register_here(&socket.wire)
                .expect("it can be watched");
        });
        let waiter = {
            let source = Arc::clone(&source);
            worker(0).start(&blocks[0], move || {
                socket.operate(&source, Interest::Readable);
            })
        };
        let mover = {
            let source = Arc::clone(&source);
            worker(1).start(&blocks[1], move || {
                source
                    .register_here(&socket.wire)
                    .expect("it can be watched");
            })
        };
        let look = spawn(|| worker(0).look_before_a_jump());
        join([mover, look]);
        socket.add(1, 0);
        ask_common();
        join([waiter]);
    });
}

/// Like [`model_site_move_against_a_waiter`]; the event comes at any point of the move.
#[test]
fn model_site_move_against_an_event() {
    explore("site_move_event", 2, || {
        let (socket, blocks, source) = (socket(0), [fiber(), fiber()], source());
        let waiter = {
            let source = Arc::clone(&source);
            worker(0).start(&blocks[0], move || {
                socket.operate(&source, Interest::Readable);
            })
        };
        let mover = {
            let source = Arc::clone(&source);
            worker(1).start(&blocks[1], move || {
                source
                    .register_here(&socket.wire)
                    .expect("it can be watched");
            })
        };
        socket.add(1, 0);
        join([mover]);
        ask_common();
        join([waiter]);
    });
}

/// One event for both sides wakes a reader and a writer. The reader then fails to read, and does
/// not change the other side.
// Proves: N6-X-events.
#[test]
fn model_site_reader_and_writer() {
    explore("site_sides", 2, || {
        let (socket, blocks, source) = (socket(0), [fiber(), fiber()], source());
        source
            .register_here(&socket.wire)
            .expect("it can be watched");
        let reader = {
            let (block, source) = (&blocks[0], Arc::clone(&source));
            block.start(move || {
                socket.operate(&source, Interest::Readable);
                let attempt = &mut || socket.attempt(Interest::Readable);
                let again = source.attempt(Interest::Readable, attempt, &|_| false);
                assert!(again.is_none(), "there was one thing");
            })
        };
        let writer = {
            let (block, source) = (&blocks[1], Arc::clone(&source));
            block.start(move || socket.operate(&source, Interest::Writable))
        };
        socket.add(1, 1);
        ask_common();
        join([reader, writer]);
    });
}

//! Models of a header's references and of its next life. The last reference recycles, once, and
//! after everything that the other holders did. A waker of the first life has no effect on the
//! second.

use std::panic::Location;
use std::sync::Arc;

use super::stage::{Actor, Block};
use crate::base::tests::explore::explore;
use crate::fiber::header::{Header, Label};
use crate::fiber::slab;
use crate::fiber::state::{Accepts, Code, Parked};
use crate::fiber::ticket::Ticket;
use crate::fiber::{FiberRef, current};
use crate::shim::atomic::{AtomicU32, Ordering};
use crate::shim::thread::{self, JoinHandle};
use crate::wait::park::park;
use crate::wait::{How, Reason, Spec};

/// Releases one reference.
fn release(actor: Actor, recycled: &AtomicU32) {
    let name = named(actor);
    assert_eq!(
        name.as_deref(),
        Some("first"),
        "the header was reused too early"
    );
    // SAFETY: the model hands one reference to each caller.
    unsafe { Header::release(actor.0) };
    start_over(actor, recycled);
}

/// Starts the header's second life here if it is in this thread's magazine.
fn start_over(actor: Actor, recycled: &AtomicU32) {
    let local = current::local();
    if local.magazines.first(0).is_some() {
        let again = slab::alloc(local, 0, Location::caller(), 1);
        assert_eq!(again, actor.0);
        assert_eq!(named(actor), None, "the first life shows through");
        recycled.fetch_add(1, Ordering::Relaxed);
    }
}

fn named(actor: Actor) -> Option<String> {
    actor.0.header().name().map(str::to_owned)
}

fn start(body: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    thread::spawn(String::new(), body).expect("a modelled thread")
}

fn first_life(refs: u32) -> (Block, Actor) {
    let block = Block::new();
    let actor = block.renew(refs);
    block.header().set_label(Label {
        name: Some("first".into()),
        stack_size: None,
    });
    (block, actor)
}

fn let_go(holders: u32) {
    let (block, actor) = first_life(holders);
    let recycled = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (1..holders)
        .map(|_| {
            let recycled = Arc::clone(&recycled);
            start(move || {
                let actor = actor;
                release(actor, &recycled);
            })
        })
        .collect();
    release(actor, &recycled);
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("the thread passes"));
    assert_eq!(recycled.load(Ordering::Relaxed), 1, "recycled once");
    drop(block);
}

#[test]
fn model_header_two_let_go() {
    explore("header_two_let_go", 3, || let_go(2));
}

// Proves: F16.
#[test]
fn model_header_three_let_go() {
    explore("header_three_let_go", 3, || let_go(3));
}

/// A handle that is cloned while another one is dropped.
// Proves: F16.
#[test]
fn model_header_cloned_while_dropped() {
    explore("header_cloned_while_dropped", 3, || {
        let (block, actor) = first_life(2);
        let recycled = Arc::new(AtomicU32::new(0));
        let other = {
            let recycled = Arc::clone(&recycled);
            start(move || {
                let actor = actor;
                // SAFETY: one of the two references.
                let first = unsafe { FiberRef::from_owned(actor.0) };
                let second = first.clone();
                drop(first);
                assert_eq!(second.header().name(), Some("first"), "recycled too early");
                drop(second);
                start_over(actor, &recycled);
            })
        };
        release(actor, &recycled);
        other.join().expect("the thread passes");
        assert_eq!(recycled.load(Ordering::Relaxed), 1, "recycled once");
        drop(block);
    });
}

/// The header's second life begins, and waits, while a waker of the first is on its way.
// Proves: F15.
#[test]
fn model_header_late_waker() {
    explore("header_late_waker", 3, || {
        let (block, actor) = first_life(1);
        let block = Arc::new(block);
        let old = Header::ticket(actor.0);
        let late = start(move || drop(old.wake_with(Code::case(1))));
        end_first_wait(&block, old);
        block.header().state.finish();
        // SAFETY: the one reference.
        unsafe { Header::release(actor.0) };
        let local = current::local();
        let second = slab::alloc(local, 0, Location::caller(), 1);
        assert_eq!(second, actor.0);
        block.play(|| {
            let ticket = Header::ticket(second);
            assert_ne!(ticket, old, "epochs go on");
            let waker = start(move || assert!(ticket.wake_with(Code::case(2))));
            let end = park(ticket, &Spec::of(Reason::Park));
            assert_eq!(
                end.how,
                How::Woken(Code::case(2)),
                "ended by a waker of the first life"
            );
            waker.join().expect("the waker wins");
        });
        late.join().expect("wake returns");
    });
}

/// The first fiber's wait ends by its late waker or by itself.
fn end_first_wait(block: &Block, ticket: Ticket) {
    let header = block.header();
    block.play(|| {
        let nothing = Accepts::NOTHING;
        if header.state.park(ticket.epoch(), nothing) == Parked::Yes {
            if header.state.unpark_self(ticket.epoch()) {
                drop(ticket.claim(Code::case(0)));
            } else {
                header.parker.park();
            }
        }
    });
}

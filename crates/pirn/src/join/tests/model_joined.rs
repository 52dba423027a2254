//! Models: a fiber's end against parties that wait for it, take its outcome, or drop the handle.
//! The outcome is dropped or taken once, whole, and the header is released once.

use std::panic::{Location, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::base::tests::explore::explore;
use crate::fiber::tests::stage::{Actor, Block};
use crate::fiber::{Header, current, entry};
use crate::join::{JoinError, Joined};
use crate::shim::thread::{self, JoinHandle};
use crate::shim::{self, UnsafeCell};
use crate::wait::{How, Reason, Spec};

/// The result of a fiber: memory that loom checks, and a count of its drops.
struct Token(Arc<Tally>);

struct Tally {
    note: UnsafeCell<u32>,
    dropped: AtomicUsize,
}

// SAFETY: the models check that accesses to the note are ordered.
unsafe impl Send for Tally {}
// SAFETY: as above.
unsafe impl Sync for Tally {}

impl Token {
    fn new(tally: &Arc<Tally>) -> Token {
        // SAFETY: as above.
        tally.note.with_mut(|note| unsafe { *note = 7 });
        Token(Arc::clone(tally))
    }

    fn read(&self) -> u32 {
        // SAFETY: as above.
        self.0.note.with(|note| unsafe { *note })
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        // SAFETY: as above.
        self.0.note.with_mut(|note| unsafe { *note = 0 });
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// A fiber that is about to run on a thread of its own, and the parties that join it.
struct Fixture {
    tally: Arc<Tally>,
    child: Arc<Block>,
    joiners: [Arc<Block>; 2],
}

impl Fixture {
    fn new() -> Fixture {
        let tally = Tally {
            note: UnsafeCell::new(0),
            dropped: AtomicUsize::new(0),
        };
        let joiner = || {
            let block = Block::new();
            block.renew(1);
            Arc::new(block)
        };
        Fixture {
            tally: Arc::new(tally),
            joiners: [joiner(), joiner()],
            child: Arc::new(Block::new()),
        }
    }

    /// Starts the fiber; its closure returns a token, or panics with it.
    fn spawn(&self, panics: bool) -> (Joined<Token>, JoinHandle<()>) {
        self.child.stock();
        let tally = Arc::clone(&self.tally);
        let body = move || match panics {
            true => resume_unwind(Box::new(Token::new(&tally))),
            false => Token::new(&tally),
        };
        // SAFETY: nothing is borrowed.
        let fiber = unsafe { entry::fresh(current::local(), Location::caller(), body) };
        assert_eq!(fiber, self.child.pointer());
        let actor = Actor(fiber);
        let thread = self.child.start(move || {
            let Actor(fiber) = { actor };
            // SAFETY: once, by the thread that runs the fiber.
            unsafe { entry::live(fiber) };
            fiber.header().state.finish();
            // SAFETY: the runtime's reference.
            unsafe { Header::release(fiber) };
        });
        // SAFETY: J1: the other reference, of the closure's type.
        (unsafe { Joined::new(fiber) }, thread)
    }

    fn dropped(&self) -> usize {
        self.tally.dropped.load(Ordering::Relaxed)
    }
}

fn join(thread: JoinHandle<()>) {
    thread.join().expect("the thread passes");
}

const PLAIN: Spec = Spec::of(Reason::Join);

#[test]
fn model_joined_value_is_taken() {
    explore("joined_value_is_taken", 3, || {
        let fixture = Fixture::new();
        let (joined, thread) = fixture.spawn(false);
        let token = fixture.joiners[0].play(|| {
            assert!(matches!(joined.wait(&PLAIN), How::Woken(_)));
            joined.take().expect("the fiber returned")
        });
        assert_eq!((token.read(), fixture.dropped()), (7, 0));
        join(thread);
        drop(token);
        assert_eq!(fixture.dropped(), 1);
    });
}

#[test]
fn model_joined_panic_is_taken() {
    explore("joined_panic_is_taken", 3, || {
        let fixture = Fixture::new();
        let (joined, thread) = fixture.spawn(true);
        let outcome = fixture.joiners[0].play(|| {
            let _ = joined.wait(&PLAIN);
            joined.take()
        });
        let Err(JoinError::Panicked(payload)) = outcome else {
            panic!("the fiber panicked")
        };
        join(thread);
        let token = payload.into_inner().downcast::<Token>().expect("the token");
        assert_eq!((token.read(), fixture.dropped()), (7, 0));
        drop(token);
        assert_eq!(fixture.dropped(), 1);
    });
}

/// The outcome is not taken: the fiber or the handle drops it, whichever ends last.
#[test]
fn model_joined_detached() {
    for panics in [false, true] {
        explore("joined_detached", 3, move || {
            let fixture = Fixture::new();
            let (joined, thread) = fixture.spawn(panics);
            drop(joined);
            join(thread);
            assert_eq!(fixture.dropped(), 1);
        });
    }
}

/// Two parties wait; one of them takes.
#[test]
fn model_joined_by_two() {
    explore("joined_by_two", 2, || {
        let fixture = Fixture::new();
        let (joined, thread) = fixture.spawn(false);
        let joined = Arc::new(joined);
        let other = {
            let joined = Arc::clone(&joined);
            fixture.joiners[1].start(move || {
                assert!(matches!(joined.wait(&PLAIN), How::Woken(_)));
                assert!(joined.is_finished());
            })
        };
        fixture.joiners[0].play(|| {
            assert!(matches!(joined.wait(&PLAIN), How::Woken(_)));
        });
        join(other);
        let joined = Arc::into_inner(joined).expect("the other one has let go");
        assert_eq!(joined.take().expect("the fiber returned").read(), 7);
        join(thread);
        assert_eq!(fixture.dropped(), 1);
    });
}

/// The joiner's time is up while the fiber ends: it takes the outcome or leaves it.
#[test]
fn model_joined_against_a_deadline() {
    explore("joined_against_a_deadline", 3, || {
        let fixture = Fixture::new();
        let (joined, thread) = fixture.spawn(false);
        let spec = PLAIN.until(Some(shim::now() + Duration::from_secs(1)));
        fixture.joiners[0].play(|| match joined.wait(&spec) {
            How::TimedOut => drop(joined),
            _ => assert_eq!(joined.take().expect("the fiber returned").read(), 7),
        });
        join(thread);
        assert_eq!(fixture.dropped(), 1);
    });
}

/// Another party sees that the fiber has finished, without waiting.
#[test]
fn model_joined_seen_finished() {
    explore("joined_seen_finished", 3, || {
        let fixture = Fixture::new();
        let (joined, thread) = fixture.spawn(false);
        if joined.is_finished() {
            assert_eq!(joined.take().expect("the fiber returned").read(), 7);
        } else {
            drop(joined);
        }
        join(thread);
        assert_eq!(fixture.dropped(), 1);
    });
}

/// Cancelled while it starts: the closure runs or is dropped, and the joiner's result reports
/// which.
#[test]
fn model_joined_cancelled_at_the_start() {
    explore("joined_cancelled_at_the_start", 3, || {
        let fixture = Fixture::new();
        let (joined, thread) = fixture.spawn(false);
        joined.fiber().cancel();
        let outcome = fixture.joiners[0].play(|| {
            let _ = joined.wait(&PLAIN);
            joined.take()
        });
        join(thread);
        match outcome {
            Ok(token) => drop(token),
            Err(JoinError::NotRun) => assert_eq!(Arc::strong_count(&fixture.tally), 1),
            Err(other) => panic!("{other}"),
        }
    });
}

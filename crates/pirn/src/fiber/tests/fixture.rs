//! Helpers of the models of the state word: a place to sleep, memory that only the word orders, and
//! turns.
//!
//! A turn is a relaxed read-modify-write that orders nothing. loom returns to points where two
//! accesses could have come in the opposite order, but it remembers only the last access to each
//! word. It forgets a party that only loads a word as soon as another one loads it too. It does not
//! forget turns, so parties take one before they look.

use std::sync::Arc;

use crate::fiber::state::{Accepts, Claim, Code, Epoch, Parked, StateWord};
use crate::shim::UnsafeCell;
use crate::shim::atomic::{AtomicU32, Ordering};
use crate::shim::thread::{self, JoinHandle};
use crate::sys::parker::Parker;

/// A wait that nothing but a claim ends.
pub(super) const CLAIM_ONLY: Accepts = Accepts::NOTHING;
pub(super) const OR_CANCEL: Accepts = Accepts::INTERRUPTS;
pub(super) const OR_TOKEN: Accepts = Accepts::TOKEN;

/// Memory that one party writes before and another reads after; loom reports it if nothing orders
/// the two.
#[derive(Debug)]
pub(super) struct Note(UnsafeCell<u32>);

// SAFETY: the models check that accesses are ordered.
unsafe impl Sync for Note {}

impl Note {
    pub(super) fn new() -> Note {
        Note(UnsafeCell::new(0))
    }

    pub(super) fn write(&self, value: u32) {
        // SAFETY: as above.
        self.0.with_mut(|note| unsafe { *note = value });
    }

    pub(super) fn read(&self) -> u32 {
        // SAFETY: as above.
        self.0.with(|note| unsafe { *note })
    }
}

/// A state word, its owner's place to sleep, and the data that both sides hand over.
#[derive(Debug)]
pub(super) struct Fixture {
    pub(super) word: StateWord,
    pub(super) parker: Parker,
    /// Written by the owner before it parks; read by the party that finds it parked.
    pub(super) saved: Note,
    /// One for each waker: written before its claim, read by the owner that it claimed.
    pub(super) notes: [Note; 2],
    turns: AtomicU32,
}

impl Fixture {
    pub(super) fn new() -> Arc<Fixture> {
        Arc::new(Fixture {
            word: StateWord::new(),
            parker: Parker::new(),
            saved: Note::new(),
            notes: [Note::new(), Note::new()],
            turns: AtomicU32::new(0),
        })
    }

    /// From here on other parties may have come first.
    pub(super) fn turn(&self) {
        self.turns.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn thread(
        self: &Arc<Self>,
        body: impl FnOnce(&Fixture) + Send + 'static,
    ) -> JoinHandle<()> {
        let fixture = Arc::clone(self);
        thread::spawn(String::new(), move || body(&fixture)).expect("a modelled thread")
    }

    /// Runs waker `i`: true if its claim won.
    pub(super) fn wake(&self, i: usize, epoch: Epoch) -> bool {
        self.notes[i].write(7);
        self.turn();
        match self.word.claim(epoch, Code::case(i as u16)) {
            Claim::Parked => self.enqueue(),
            Claim::Active => {}
            Claim::Stale => return false,
        }
        true
    }

    /// Looks at the owner if it is parked, which it stays unless its wait is ended.
    pub(super) fn visit(&self) {
        self.turn();
        if let Some(hold) = self.word.hold() {
            self.saved.read();
            self.turn();
            if let Parked::Claimed(_) = self.word.put_down(hold) {
                self.enqueue();
            }
        }
    }

    /// Enqueues: the duty of the party that ended a parked wait.
    pub(super) fn enqueue(&self) {
        self.saved.read();
        self.parker.unpark();
    }

    /// Waits as the owner; returns what ended the wait.
    pub(super) fn wait(&self, epoch: Epoch, accepts: Accepts) -> Code {
        self.saved.write(1);
        self.turn();
        match self.word.park(epoch, accepts) {
            Parked::Claimed(code) => code,
            Parked::Yes => {
                self.parker.park();
                self.word.code()
            }
        }
    }
}

pub(super) fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("the thread passes"));
}

//! A worker's address: what other threads access to hand it a settled fiber and wake it.
//!
//! Type-stable: inboxes come from a process-wide pool and are never freed. A late waker thus
//! accesses an inbox, although it may be another worker's by then; that worker gets a spurious and
//! harmless wake.
//!
//! The inbox is one word:
//!
//! | word | meaning |
//! |---|---|
//! | 0 | empty, the owner is awake |
//! | ASLEEP | empty, the owner sleeps or is about to |
//! | a fiber | the newest of a chain through the headers' links |
//!
//! Because ASLEEP replaces the first fiber, the push that overwrites it is the only one that wakes
//! the owner, and a push is one compare-exchange in all. A chain only grows until the owner swaps
//! it out whole. So a push that finds the newest fiber unchanged needs to know nothing else (no
//! ABA).
//!
//! Owner's protocol: `prepare_sleep`; if true, look everywhere else; then `sleep` or not; then
//! `drain` (or `cancel_sleep`). A push in between has left a token in the parker: the next park may
//! return at once.
//!
//! Invariants:
//! * M1. Only the owner changes 0 to ASLEEP, and only the owner changes anything to 0.
//! * M2. A fiber pushed while the word was ASLEEP comes with exactly one `unpark`, by its
//!   pusher.

use std::any::Any;
use std::fmt;
use std::ptr;
use std::time::Instant;

use crate::base::list::{Fifo, Linked, NodePtr, set_next};
use crate::base::mutant::{mutant, or_relaxed};
use crate::base::pad::CachePadded;
use crate::shim::StaticLock;
use crate::shim::atomic::{AtomicPtr, AtomicU64, Ordering};
use crate::sys::parker::Parker;
use crate::sys::poller::{Driver, Events};

/// One worker's inbox, sleep word and dispatch count.
pub(crate) struct Inbox<T> {
    /// Written by wakers; read by the owner each time it looks for remote wakes.
    door: CachePadded<Door<T>>,
    /// The number of dispatches of the owner: its plain store, the monitor's load.
    pub(crate) epoch: CachePadded<AtomicU64>,
}

struct Door<T> {
    /// See the table.
    inbox: AtomicPtr<T>,
    parker: Parker,
    /// The driver of the owner's fibers. The owner sleeps in it while it has sources.
    driver: Driver,
}

impl<T: Linked + 'static> Inbox<T> {
    /// Takes an inbox without an owner, or creates one that is never freed.
    pub(crate) fn acquire() -> &'static Self {
        let mut free = FREE.lock();
        let known = free.iter().rposition(|inbox| inbox.is::<Self>());
        match known.and_then(|i| free.swap_remove(i).downcast_ref()) {
            Some(inbox) => inbox,
            None => Box::leak(Box::new(Inbox::new())),
        }
    }

    /// Returns the inbox to the pool. The inbox is empty, and no fiber is settled on its owner any
    /// more; only a late `unpark` may still come.
    pub(crate) fn release(&'static self) {
        debug_assert!(
            self.is_empty(),
            "fibers in an inbox that no worker will empty"
        );
        self.cancel_sleep();
        FREE.lock().push(self);
    }
}

impl<T: Linked> Inbox<T> {
    /// Creates an inbox outside the pool, for [`Inbox::acquire`] and for models.
    pub(crate) fn new() -> Self {
        Inbox {
            door: CachePadded::new(Door {
                inbox: AtomicPtr::new(ptr::null_mut()),
                parker: Parker::new(),
                driver: Driver::new(),
            }),
            epoch: CachePadded::new(AtomicU64::new(0)),
        }
    }

    /// Pushes a settled fiber. True if the owner was asleep: this caller alone must unpark it. One
    /// read-modify-write (more only if pushes collide).
    #[inline]
    pub(crate) fn push(&self, fiber: NodePtr<T>) -> bool {
        let inbox = &self.door.inbox;
        let mut before = inbox.load(Ordering::Relaxed);
        loop {
            set_next(fiber, newest(before));
            // ORDERING: Release pairs with the Acquire swap in `drain`; an older push in the
            // chain is covered too, as this exchange continues its release sequence.
            let order = or_relaxed!(Ordering::Release, "inbox_push_relaxed");
            match inbox.compare_exchange_weak(
                before,
                fiber.as_ptr(),
                order,
                Ordering::Relaxed,
            ) {
                Ok(_) => return before == asleep(),
                Err(now) => before = now,
            }
        }
    }

    /// *Owner.* Takes everything, oldest first, and marks the owner awake. Empty and awake: one
    /// load.
    #[inline]
    pub(crate) fn drain(&self) -> Fifo<T> {
        let inbox = &self.door.inbox;
        if inbox.load(Ordering::Relaxed).is_null() {
            return Fifo::new();
        }
        // ORDERING: Acquire pairs with the Release in `push`.
        Fifo::from_newest_first(newest(inbox.swap(ptr::null_mut(), Ordering::Acquire)))
    }

    /// True if no fiber is in the inbox; one plain load.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        newest(self.door.inbox.load(Ordering::Relaxed)).is_none()
    }

    /// *Owner.* Marks the owner asleep, so that a push wakes it. False if the inbox holds fibers:
    /// drain them.
    pub(crate) fn prepare_sleep(&self) -> bool {
        if mutant!("inbox_sleep_unchecked") {
            let empty = self.is_empty();
            if empty {
                self.door.inbox.store(asleep(), Ordering::Relaxed);
            }
            return empty;
        }
        // ORDERING: Relaxed: owner and pusher communicate by the word itself alone.
        self.door
            .inbox
            .compare_exchange(
                ptr::null_mut(),
                asleep(),
                Ordering::Relaxed,
                Ordering::Relaxed,
            )
            .is_ok()
    }

    /// *Owner.* Marks the owner awake again; fibers pushed meanwhile stay in the inbox.
    pub(crate) fn cancel_sleep(&self) {
        // A failure means awake already, or a push has cleared the mark.
        let _ = self.door.inbox.compare_exchange(
            asleep(),
            ptr::null_mut(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
    }

    /// *Owner.* Sleeps until there is a token, which it takes, or the deadline has passed. While
    /// the driver has sources, also until one of them changes; then `events` contains them.
    pub(crate) fn sleep(&self, until: Option<Instant>, events: &mut Events) {
        let Door { parker, driver, .. } = &*self.door;
        match until {
            _ if driver.is_used() => {
                parker.sleep_in(|| driver.wait(events, until));
            }
            None => parker.park(),
            Some(until) => {
                parker.park_until(until);
            }
        }
    }

    /// Leaves a token for the owner, and wakes it if it sleeps.
    pub(crate) fn unpark(&self) {
        let Door { parker, driver, .. } = &*self.door;
        parker.unpark_or(|| driver.wake());
    }

    /// True if the owner sleeps and has no token. Stale when it returns.
    pub(crate) fn is_parked(&self) -> bool {
        self.door.parker.is_parked()
    }

    pub(crate) fn driver(&self) -> &Driver {
        &self.door.driver
    }
}

impl<T> fmt::Debug for Inbox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox")
            .field("epoch", &self.epoch.load(Ordering::Relaxed))
            .finish_non_exhaustive()
    }
}

/// The chain that starts at this word.
#[inline]
fn newest<T: Linked>(word: *mut T) -> Option<NodePtr<T>> {
    if word == asleep() {
        return None;
    }
    // SAFETY: null, or a node that was pushed (T1).
    unsafe { NodePtr::from_raw(word) }
}

/// Not a fiber: headers are aligned.
#[inline]
fn asleep<T>() -> *mut T {
    ptr::without_provenance_mut(1)
}

/// Inboxes without an owner, of every type of fiber.
static FREE: StaticLock<Vec<&'static (dyn Any + Send + Sync)>> =
    StaticLock::new(Vec::new());

//! Reads of files that the system makes while the fiber waits.
//!
//! Owns: each worker's ring, from its first such read on; the states of an operation; when
//! completions are fetched. Does not own: the ring (`sys::ring`), nor which reads come here
//! (`blocking::file_read`).
//!
//! | state | next step | to |
//! |---|---|---|
//! | filled | the fiber: submits it, in its own frame | under way |
//! | under way | the system: reads | complete, not yet seen by any thread |
//! | complete | the worker: fetches it between dispatches, leaves the result, wakes the fiber | reported |
//! | reported | the fiber: returns | |
//!
//! All but the system's part happens on one thread, so nothing here needs an ordering. The only way
//! from "under way" to the fiber is through "complete": an interrupt or a deadline does not end
//! this wait, as it does not end that for a call that was handed over.
//!
//! LIVENESS: the system rings the bell of the worker's driver when something is complete that the
//! worker has not been notified to fetch. While something is under way the worker polls its driver
//! every round, and sleeps there; each time that the bell has rung, it fetches all completions. A
//! thread that polls in place of a stuck worker rings again (`poll_for_owner`). The fibers of a
//! stuck worker wait for it in any case.
//!
//! Invariants:
//! * Q1. An operation and its buffer belong to its fiber, which resumes only when the operation is
//!   reported. The worker ends only when its last started fiber has, so the ring is there for as
//!   long.
//! * Q2. The ring and the operations are reached by their worker's thread only: a fiber that may
//!   migrate does not come here. Nor does a fiber that unwinds, since it would wait in place for
//!   what this thread fetches.

use std::cell::{Cell, OnceCell};
use std::fs::File;
use std::panic::Location;
use std::ptr;
use std::thread::panicking;

use crate::base::mutant::mutant;
use crate::fiber::current;
use crate::fiber::ticket::Ticket;
use crate::sys::poller::{Driver, Events};
use crate::sys::ring::Ring;
use crate::wait::park::{park, ticket};
use crate::wait::{Reason, Spec};

/// A worker's ring, created when it is first needed.
pub(super) struct Queued {
    wanted: bool,
    /// None if the system has refused it.
    ring: OnceCell<Option<Ring>>,
}

/// A read that is under way.
struct Operation {
    caller: Cell<Ticket>,
    result: Cell<Option<i32>>,
}

impl Queued {
    pub(super) const SUPPORTED: bool = true;

    pub(super) fn new(wanted: bool) -> Queued {
        Queued {
            wanted,
            ring: OnceCell::new(),
        }
    }

    /// Reads from a place of a file, for the running fiber, for as long as that takes. `None` if
    /// nothing was read: it cannot be done here, or has failed; the caller finds out by a call that
    /// may block.
    #[track_caller]
    pub(super) fn read(
        &self,
        driver: &'static Driver,
        file: &File,
        into: &mut [u8],
        at: u64,
    ) -> Option<usize> {
        // Inside a poll the wait would unwind instead, which Q1 forbids.
        if current::local().is_polling() || panicking() {
            return None;
        }
        let ring = self.ring(driver)?;
        let operation = Operation {
            caller: Cell::new(ticket()),
            result: Cell::new(None),
        };
        let name = ptr::from_ref(&operation).expose_provenance() as u64;
        // SAFETY: Q1: the loop below ends when the operation is reported.
        if !unsafe { ring.read(file, into, at, name) } {
            return None;
        }
        if ring.under_way() == 1 {
            driver.listen(true);
        }
        let leaves_early = mutant!("queued_leaves_early");
        let spec = match leaves_early {
            true => Spec::interruptible(Reason::File),
            false => Spec::of(Reason::File).at(Location::caller()),
        };
        loop {
            let _ = park(operation.caller.get(), &spec);
            if let Some(result) = operation.result.get() {
                return usize::try_from(result).ok();
            }
            if leaves_early {
                return None;
            }
            // Woken by another waker.
            operation.caller.set(ticket());
        }
    }

    /// Returns the ring, if there is one with a free entry.
    fn ring(&self, driver: &'static Driver) -> Option<&Ring> {
        if !self.wanted {
            return None;
        }
        let make = || Ring::new(driver.bell().ok()?).ok();
        self.ring
            .get_or_init(make)
            .as_ref()
            .filter(|ring| ring.has_room())
    }

    /// Wakes the fibers with complete reads, if the bell of the worker's driver has rung.
    #[inline]
    pub(super) fn reap(&self, driver: &'static Driver, events: &Events) {
        if self.has_queued() && events.may_have_rung() {
            self.reap_now(driver);
        }
    }

    #[cold]
    fn reap_now(&self, driver: &'static Driver) {
        let Some(Some(ring)) = self.ring.get() else {
            return;
        };
        // K1: waking fills queues and does not come back here.
        ring.reap(|name, result| {
            let operation = ptr::with_exposed_provenance::<Operation>(name as usize);
            // SAFETY: Q1: it waits, and Q2: on this thread.
            let operation = unsafe { &*operation };
            operation.result.set(Some(result));
            operation.caller.get().wake();
        });
        if ring.under_way() == 0 {
            driver.listen(false);
        }
    }

    /// True if the system will end a wait of one of this worker's fibers.
    pub(super) fn has_queued(&self) -> bool {
        let ring = self.ring.get().and_then(Option::as_ref);
        ring.is_some_and(|ring| ring.under_way() > 0)
    }
}

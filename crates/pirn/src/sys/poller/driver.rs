//! The poller of one thread, made when its first source is added.

use std::io;
use std::sync::OnceLock;
// Not from `shim`: neither is part of a protocol, and loom's cannot be in a static.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use super::door::{Events, Poller, RawSource};
use crate::base::mutant::mutant;
use crate::shim::StaticLock;

/// A place for a poller. Its owner asks; anybody may ask in its place, or wake it.
#[derive(Debug)]
pub(crate) struct Driver {
    poller: OnceLock<Poller>,
    /// How many sources are in it. Written by who adds and removes.
    pub(super) sources: AtomicUsize,
    /// A source that its owner waits for may be in the common driver.
    shares: AtomicBool,
}

/// Held while a poller is made.
static MAKING: StaticLock<()> = StaticLock::new(());

impl Driver {
    pub(crate) const fn new() -> Driver {
        Driver {
            poller: OnceLock::new(),
            sources: AtomicUsize::new(0),
            shares: AtomicBool::new(false),
        }
    }

    /// Whether there is anything to ask about. A plain load.
    #[inline(always)]
    pub(crate) fn is_used(&self) -> bool {
        self.sources.load(Ordering::Relaxed) > 0
    }

    /// Whether it has, or had, a source.
    pub(crate) fn was_used(&self) -> bool {
        self.poller().is_some()
    }

    /// Notes that a source that the owner waits for, or is about to, is in the common driver.
    pub(crate) fn set_shares(&self) {
        // ORDERING: SeqCst: after the source has been moved; see `take_shares`.
        self.shares.store(true, Ordering::SeqCst);
    }

    /// Returns whether [`set_shares`](Self::set_shares) was called, and forgets it.
    ///
    /// LIVENESS: a caller that looks at the sources after this finds those that were noted before.
    pub(crate) fn take_shares(&self) -> bool {
        self.shares.load(Ordering::Relaxed) && self.shares.swap(false, Ordering::SeqCst)
    }

    /// Adds a source, for reading and writing. The first event tells what it is ready for now.
    ///
    /// # Errors
    /// What the system says; the source has not been added then.
    pub(crate) fn add(&self, source: RawSource, token: u64) -> io::Result<()> {
        self.made()?.add(source, token)?;
        self.sources.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    /// Removes a source that was added. Events of it that somebody has fetched may still come.
    pub(crate) fn remove(&self, source: RawSource) {
        if let Some(poller) = self.poller() {
            poller.remove(source);
        }
        self.sources.fetch_sub(1, Ordering::SeqCst);
    }

    /// Fetches what is known by now.
    pub(crate) fn poll(&self, events: &mut Events) {
        events.clear();
        if let Some(poller) = self.poller() {
            poller.poll(events);
        }
    }

    /// As [`poll`](Self::poll), in place of the owner.
    ///
    /// LIVENESS: what was to wake the owner may have been fetched here, so it is put back.
    pub(crate) fn poll_for_owner(&self, events: &mut Events) {
        self.poll(events);
        if events.may_have_rung() && !mutant!("rescue_swallows_wake") {
            self.wake();
        }
    }

    /// As [`poll`](Self::poll); while there is nothing, sleeps until there is, `until`, or
    /// [`wake`](Self::wake). May come back without any of these.
    pub(crate) fn wait(&self, events: &mut Events, until: Option<Instant>) {
        events.clear();
        if let Some(poller) = self.poller() {
            poller.wait(events, until);
        }
    }

    /// Ends the [`wait`](Self::wait) that somebody is in, else the next one.
    pub(crate) fn wake(&self) {
        if let Some(poller) = self.poller() {
            poller.wake();
        }
    }

    fn poller(&self) -> Option<&Poller> {
        self.poller.get()
    }

    /// Sees to it that there is a poller.
    ///
    /// # Errors
    /// What the system says: the process has too many descriptors, for instance.
    pub(crate) fn made(&self) -> io::Result<&Poller> {
        if let Some(poller) = self.poller() {
            return Ok(poller);
        }
        let _alone = MAKING.lock();
        if self.poller().is_none() {
            // Empty, since this is the only one that fills it.
            let _ = self.poller.set(Poller::new()?);
        }
        Ok(self.poller().expect("made just now"))
    }
}

//! The poller of one thread, created with its first source.

use std::io;
use std::sync::OnceLock;
// Not from `shim`: neither is part of a protocol, and `new` is constant under a model, too.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use super::platform::{Events, Poller, RawSource};
use crate::base::mutant::mutant;
use crate::shim::StaticLock;

/// A slot for a poller. Its owner polls it; any thread may poll it in the owner's place, or wake
/// it.
#[derive(Debug)]
pub(crate) struct Driver {
    poller: OnceLock<Poller>,
    /// The number of sources. Written by the threads that add and remove them.
    pub(super) sources: AtomicUsize,
    /// A source that the owner waits for may be in the common driver.
    shares: AtomicBool,
}

/// Held while a poller is created.
static MAKING: StaticLock<()> = StaticLock::new(());

impl Driver {
    pub(crate) const fn new() -> Driver {
        Driver {
            poller: OnceLock::new(),
            sources: AtomicUsize::new(0),
            shares: AtomicBool::new(false),
        }
    }

    /// Returns whether there is a source to poll. A plain load.
    #[inline(always)]
    pub(crate) fn is_used(&self) -> bool {
        self.sources.load(Ordering::Relaxed) > 0
    }

    /// Returns whether it has, or had, a source.
    pub(crate) fn was_used(&self) -> bool {
        self.poller().is_some()
    }

    /// Records that a source that the owner waits for, or is about to, is in the common driver.
    pub(crate) fn set_shares(&self) {
        // ORDERING: SeqCst: after the source has been moved; see `take_shares`.
        self.shares.store(true, Ordering::SeqCst);
    }

    /// Returns whether [`set_shares`](Self::set_shares) was called, and resets it.
    ///
    /// LIVENESS: a caller that looks at the sources after this finds those that were recorded
    /// before.
    pub(crate) fn take_shares(&self) -> bool {
        self.shares.load(Ordering::Relaxed) && self.shares.swap(false, Ordering::SeqCst)
    }

    /// Adds a source, for reading and writing. The first event reports its readiness at that time.
    ///
    /// # Errors
    /// The error of the system; the source has not been added then.
    pub(crate) fn add(&self, source: RawSource, token: u64) -> io::Result<()> {
        self.made()?.add(source, token)?;
        self.sources.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    /// Reports the readiness of a source that was added once more: for reads, for writes. Its
    /// descriptor may have been closed since, and its number may stand for another object.
    ///
    /// # Errors
    /// The error of the system.
    #[cfg(target_os = "linux")]
    pub(crate) fn rearm(
        &self,
        source: RawSource,
        token: u64,
        sides: (bool, bool),
    ) -> io::Result<()> {
        self.made()?.rearm(source, token, sides)
    }

    /// Removes a source that was added. Events of it that a thread has already fetched may still
    /// come.
    pub(crate) fn remove(&self, source: RawSource) {
        if let Some(poller) = self.poller() {
            poller.remove(source);
        }
        self.sources.fetch_sub(1, Ordering::SeqCst);
    }

    /// Fetches the events that are pending, without waiting.
    pub(crate) fn poll(&self, events: &mut Events) {
        events.clear();
        if let Some(poller) = self.poller() {
            poller.poll(events);
        }
    }

    /// As [`poll`](Self::poll), in place of the owner.
    ///
    /// LIVENESS: the wake of the owner may have been fetched here, so it is put back.
    pub(crate) fn poll_for_owner(&self, events: &mut Events) {
        self.poll(events);
        if events.may_have_rung() && !mutant!("rescue_swallows_wake") {
            self.wake();
        }
    }

    /// As [`poll`](Self::poll), but without events it sleeps until one comes, `until`, or
    /// [`wake`](Self::wake). May return without any of these.
    pub(crate) fn wait(&self, events: &mut Events, until: Option<Instant>) {
        events.clear();
        if let Some(poller) = self.poller() {
            poller.wait(events, until);
        }
    }

    /// Ends the current [`wait`](Self::wait), or the next one if there is none.
    pub(crate) fn wake(&self) {
        if let Some(poller) = self.poller() {
            poller.wake();
        }
    }

    fn poller(&self) -> Option<&Poller> {
        self.poller.get()
    }

    /// Returns the poller, and creates it if there is none.
    ///
    /// # Errors
    /// The error of the system, for example too many descriptors.
    pub(crate) fn made(&self) -> io::Result<&Poller> {
        if let Some(poller) = self.poller() {
            return Ok(poller);
        }
        let _alone = MAKING.lock();
        if self.poller().is_none() {
            // It is empty, since only the holder of the lock fills it.
            let _ = self.poller.set(Poller::new()?);
        }
        Ok(self.poller().expect("made just now"))
    }
}

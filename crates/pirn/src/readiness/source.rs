//! A source: what its owner holds, and how an operation on it waits.

use std::io;
use std::ptr;
#[cfg(any(feature = "futures", shuttle))]
use std::task::{Context, Poll};
use std::thread::panicking;
use std::time::Duration;

use super::common;
use super::site::{Home, Seen, Site, Waits};
use super::sites;
use super::table::token;
use crate::base::mutant::mutant;
use crate::fiber::current;
use crate::shim::Lock;
use crate::shim::atomic::Ordering;
use crate::sys::poller::{Driver, RawSource, TELLS_CLOSED};
#[cfg(any(feature = "futures", shuttle))]
use crate::wait::polling::is_spent;
use crate::wait::{Attempt, How, Reason, Spec, Waited, begin, deadline_in, wait_in};

/// What a socket may be ready for.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Interest {
    /// Something to read, a connection to accept, or the end.
    Readable,
    /// Room for more to write.
    Writable,
}

/// What is known of something that the system tells the readiness of, and who waits for it.
///
/// The system's handle is passed in with each operation, and is the same each time; it is closed
/// after the source has been dropped.
pub(crate) struct Source {
    site: &'static Site,
    number: u32,
}

impl Source {
    /// # Errors
    /// There are too many.
    pub(crate) fn new() -> io::Result<Source> {
        let (number, site) = sites::take()?;
        Ok(Source { site, number })
    }

    /// Does `attempt`, which never blocks, as soon as it does not fail with `WouldBlock`.
    /// `emptied` tells whether what it came to shows that the next one would: then that waits
    /// without having tried.
    ///
    /// # Errors
    /// * What `attempt` says.
    /// * Of kind `TimedOut`: `limit`, counted from when it has to wait, or a deadline of the code
    ///   around it.
    /// * The interrupt that the caller is under. Nothing has been done then.
    #[inline]
    #[track_caller]
    pub(crate) fn operate<R>(
        &self,
        raw: RawSource,
        interest: Interest,
        limit: Option<Duration>,
        mut attempt: impl FnMut() -> io::Result<R>,
        emptied: impl Fn(&R) -> bool,
    ) -> io::Result<R> {
        begin()?;
        let mut deadline = None;
        loop {
            if let Some(done) = self.attempt(interest, &mut attempt, &emptied) {
                return done;
            }
            if deadline.is_none()
                && let Some(limit) = limit
            {
                deadline = deadline_in(limit);
            }
            let spec = Spec::interruptible(reason(interest)).until(deadline);
            self.wait(raw, interest, &spec)?;
        }
    }

    /// Does `attempt` as [`operate`](Self::operate) does, for a future. If it would have to wait, the
    /// task is woken when it need not any more: the last one that has asked for this side.
    #[cfg(any(feature = "futures", shuttle))]
    #[inline]
    pub(crate) fn poll<R>(
        &self,
        raw: RawSource,
        interest: Interest,
        context: &mut Context<'_>,
        mut attempt: impl FnMut() -> io::Result<R>,
        emptied: impl Fn(&R) -> bool,
    ) -> Poll<io::Result<R>> {
        if is_spent() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        loop {
            if let Some(done) = self.attempt(interest, &mut attempt, &emptied) {
                return Poll::Ready(done);
            }
            let driver = self.settle(raw)?;
            let may_come =
                |site: &Site| !site.look().is_ready(interest) && site.is_near(driver);
            if self.site.call(interest, context.waker(), may_come) {
                return Poll::Pending;
            }
        }
    }

    /// What `attempt` comes to, unless it would have to wait.
    #[inline]
    pub(super) fn attempt<R>(
        &self,
        interest: Interest,
        attempt: &mut impl FnMut() -> io::Result<R>,
        emptied: &impl Fn(&R) -> bool,
    ) -> Option<io::Result<R>> {
        loop {
            let seen = self.site.look();
            if !seen.is_ready(interest) {
                return None;
            }
            match attempt() {
                Ok(done) => {
                    if TELLS_CLOSED && emptied(&done) {
                        self.site.drained(seen, interest);
                    }
                    return Some(Ok(done));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.site.clear(seen, interest);
                    return None;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Waits until an event says that the source is ready, or for no reason.
    ///
    /// # Errors
    /// Like [`operate`](Self::operate); or the source cannot be watched.
    #[track_caller]
    pub(crate) fn wait(
        &self,
        raw: RawSource,
        interest: Interest,
        spec: &Spec,
    ) -> io::Result<()> {
        let driver = self.settle(raw)?;
        let site = self.site;
        let waited = wait_in(
            &site.waits,
            |waits| waits.queue(interest),
            spec,
            |_| {
                let ready = site.look().is_ready(interest)
                    && !mutant!("readiness_parks_over_event");
                let near = site.is_near(driver) || mutant!("site_left_unnoticed");
                match ready || !near {
                    true => Attempt::Done(()),
                    false => Attempt::Wait(()),
                }
            },
        );
        match waited {
            Waited::Done(()) | Waited::Ended(How::Woken(_) | How::Token, ()) => Ok(()),
            Waited::Ended(How::TimedOut, ()) => Err(timed_out()),
            Waited::Ended(How::Interrupted(interrupt), ()) => Err(interrupt.into()),
        }
    }

    /// Asks the driver that the source is in, in place of that one's owner, as the monitor does.
    #[cfg(any(loom, shuttle))]
    pub(crate) fn ask_in_place(&self) {
        let driver = self.site.home.lock().driver;
        let mut events = crate::sys::poller::Events::new();
        if let Some(driver) = driver {
            driver.poll_for_owner(&mut events);
            super::table::tell_all(&events);
        }
    }

    /// Who waits.
    #[cfg_attr(
        any(loom, shuttle, not(unix)),
        expect(dead_code, reason = "for choices")
    )]
    pub(crate) fn waits(&self) -> &Lock<Waits> {
        &self.site.waits
    }

    /// Whether events come by `driver`, or by the common one. Under the lock of who waits.
    #[cfg_attr(
        any(loom, shuttle, not(unix)),
        expect(dead_code, reason = "for choices")
    )]
    pub(crate) fn is_near(&self, driver: &'static Driver) -> bool {
        self.site.is_near(driver)
    }

    /// What is known now, for an attempt outside of [`operate`](Self::operate).
    pub(crate) fn look(&self) -> Seen {
        self.site.look()
    }

    /// The attempt that was made after `seen` would have had to wait.
    pub(crate) fn clear(&self, seen: Seen, interest: Interest) {
        self.site.clear(seen, interest);
    }

    /// Sees to it that the caller hears of events soon: the source is in the driver of its
    /// own worker; in the common one if others wait for it by another one, or the caller blocks its
    /// thread.
    ///
    /// # Errors
    /// What the system says: the handle cannot be watched, or there is no memory.
    #[inline]
    pub(crate) fn settle(&self, raw: RawSource) -> io::Result<&'static Driver> {
        let local = current::local();
        let in_place = local.fiber().is_none() || panicking();
        let driver = match local.driver() {
            Some(driver) if !in_place => driver,
            _ => common::driver(),
        };
        // ORDERING: Relaxed: a hint; see `bring`.
        let known = self.site.driver.load(Ordering::Relaxed);
        if !ptr::eq(known, driver) {
            self.place(raw, driver)?;
        }
        Ok(driver)
    }

    #[cold]
    fn place(&self, raw: RawSource, driver: &'static Driver) -> io::Result<()> {
        if ptr::eq(driver, common::driver()) {
            common::start()?;
        }
        let mut home = self.site.home.lock();
        match home.driver {
            Some(own) if ptr::eq(own, driver) => return Ok(()),
            Some(_) => return self.bring(&mut home, driver),
            None => {}
        }
        let generation = self.site.waits.lock().generation;
        driver.add(raw, token(self.number, generation))?;
        *home = Home {
            driver: Some(driver),
            raw: Some(raw),
        };
        self.site.set_driver(driver);
        Ok(())
    }
}

impl Source {
    /// Moves the source to `driver`; if others wait for it by another one, to the common one, which
    /// nobody can hold up.
    ///
    /// LIVENESS: who waits looks where the source is when it joins the queue, in one critical
    /// section. So either it sees that the source has moved, and settles it again, or it is seen
    /// here after the move.
    fn bring(&self, home: &mut Home, driver: &'static Driver) -> io::Result<()> {
        let site = self.site;
        let before = home.driver;
        if !site.is_awaited() {
            site.move_to(self.number, home, driver)?;
        }
        let is_common = home
            .driver
            .is_some_and(|own| ptr::eq(own, common::driver()));
        let is_seen = site.is_awaited() && !mutant!("site_moved_after_the_look");
        if is_seen && !is_common {
            common::start()?;
            site.move_to(self.number, home, common::driver())?;
            // A waiter that joined its queue before the first move waits by that driver.
            if let Some(before) = before
                && !mutant!("site_first_driver_unnoted")
            {
                before.set_shares();
            }
        }
        if !home.driver.is_some_and(|own| ptr::eq(own, driver)) {
            // `driver` is the caller's; `move_to` notes it in the other ones.
            driver.set_shares();
        }
        Ok(())
    }
}

impl Site {
    /// Moves a source that is in a driver to another one. An event that comes of both is one too
    /// many.
    ///
    /// # Errors
    /// The other one does not take it; it stays where it is.
    pub(super) fn move_to(
        &self,
        number: u32,
        home: &mut Home,
        driver: &'static Driver,
    ) -> io::Result<()> {
        let (Some(old), Some(raw)) = (home.driver, home.raw) else {
            return Ok(());
        };
        let generation = self.waits.lock().generation;
        driver.add(raw, token(number, generation))?;
        old.remove(raw);
        home.driver = Some(driver);
        self.set_driver(driver);
        if ptr::eq(driver, common::driver()) {
            old.set_shares();
        }
        Ok(())
    }

    /// Whether events come by `driver`, or by the common one. Under the lock of the queues.
    pub(super) fn is_near(&self, driver: &'static Driver) -> bool {
        // ORDERING: Relaxed: see `place`.
        let own = self.driver.load(Ordering::Relaxed);
        ptr::eq(own, driver) || ptr::eq(own, common::driver())
    }

    fn set_driver(&self, driver: &'static Driver) {
        self.driver
            .store(ptr::from_ref(driver).cast_mut(), Ordering::Relaxed);
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let mut home = self.site.home.lock();
        if let (Some(driver), Some(raw)) = (home.driver.take(), home.raw.take()) {
            driver.remove(raw);
        }
        self.site.driver.store(ptr::null_mut(), Ordering::Relaxed);
        drop(home);
        let early = mutant!("site_given_back_early");
        if early {
            sites::give_back(self.number);
        }
        self.site.renew();
        if !early {
            sites::give_back(self.number);
        }
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Source({})", self.number)
    }
}

fn reason(interest: Interest) -> Reason {
    match interest {
        Interest::Readable => Reason::Readable,
        Interest::Writable => Reason::Writable,
    }
}

/// What an operation says whose own time was up.
#[cold]
pub(crate) fn timed_out() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the time for this operation is up")
}

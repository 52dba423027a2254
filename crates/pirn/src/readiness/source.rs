//! A source: the owner's handle, and how an operation on it waits.

use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr;
#[cfg(any(feature = "futures", pirn_modelled))]
use std::task::{Context, Poll};
use std::thread::panicking;
use std::time::Duration;

use super::common;
use super::interest::Interest;
use super::site::{Home, Seen, Site, Waits};
use super::sites;
use super::table::token;
use crate::base::choice::Operation;
use crate::base::mutant::mutant;
use crate::fiber::current;
use crate::shim::Lock;
use crate::shim::atomic::Ordering;
use crate::sys::poller::{Driver, REPORTS_CLOSED, RawSource};
use crate::wait::polling::forbids_waiting;
#[cfg(any(feature = "futures", pirn_modelled))]
use crate::wait::polling::is_spent;
use crate::wait::{Attempt, How, Reason, Spec, Waited, begin, deadline_in, wait_in};

/// The known readiness of an object that the system reports on, and its waiters.
///
/// The system's handle is passed in with each operation. It is the same each time, and is closed
/// after the source has been dropped. The source of a `Number` is the exception: it outlives each
/// object that the number stands for.
pub(crate) struct Source {
    site: &'static Site,
    number: u32,
}

impl Source {
    /// # Errors
    /// There are too many sources.
    pub(crate) fn new() -> io::Result<Source> {
        let (number, site) = sites::take()?;
        Ok(Source { site, number })
    }

    /// Makes all that wait for the source try again, after a change that the system does not
    /// report.
    pub(crate) fn retry_all(&self) {
        self.site.wake_waiters();
    }

    /// Calls `attempt`, which never blocks, until it does not fail with `WouldBlock`, and waits in
    /// between. If `emptied` returns true for its result, the next attempt is expected to fail: the
    /// next operation first waits for an event.
    ///
    /// # Errors
    /// * The error of `attempt`; `WouldBlock` only if `limit` is zero.
    /// * Kind `TimedOut`: `limit`, counted from when the operation has to wait, or a deadline of
    ///   the code around it.
    /// * The caller's interrupt. Nothing has been done then.
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
        begin(Operation::Io, 0)?;
        let mut deadline = None;
        loop {
            if let Some(done) = self.attempt(interest, &mut attempt, &emptied) {
                return done;
            }
            if limit == Some(Duration::ZERO) {
                return attempt_now(attempt);
            }
            // A wait panics there, so it is to be one.
            if forbids_waiting(current::local()) {
                match attempt_now(&mut attempt) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    done => return done,
                }
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

    /// Calls `attempt` like [`operate`](Self::operate), for a future. If `attempt` would block,
    /// registers the task's waker for this side, in place of an earlier task's. If the budget is
    /// used up, returns `Pending` without an attempt, and wakes the task at once.
    #[cfg(any(feature = "futures", pirn_modelled))]
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
            let driver = self.register_here(raw)?;
            let may_come =
                |site: &Site| !site.look().is_ready(interest) && site.is_near(driver);
            if self.site.call(interest, context.waker(), may_come) {
                return Poll::Pending;
            }
        }
    }

    /// Calls `attempt` if the source may be ready, again after `EINTR`. Returns `None` if the
    /// source is not ready, or `attempt` fails with `WouldBlock`.
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
                    if REPORTS_CLOSED && emptied(&done) {
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

    /// Waits until an event reports the source ready; may also return spuriously.
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
        self.wait_while(raw, interest, spec, || true)
    }

    /// As [`wait`](Self::wait), but returns at once if `may_wait` returns false under the lock of
    /// the source's home or of the queues.
    #[inline]
    #[track_caller]
    fn wait_while(
        &self,
        raw: RawSource,
        interest: Interest,
        spec: &Spec,
        may_wait: impl Fn() -> bool,
    ) -> io::Result<()> {
        let driver = self.register_here_if(raw, &may_wait)?;
        let site = self.site;
        let waited = wait_in(
            &site.waits,
            |waits| waits.queue(interest),
            spec,
            |_| {
                let ready = site.look().is_ready(interest)
                    && !mutant!("readiness_parks_over_event");
                let near = site.is_near(driver) || mutant!("site_left_unnoticed");
                match ready || !near || !may_wait() {
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

    /// Fetches events from the source's driver in place of its owner, like the monitor.
    #[cfg(pirn_modelled)]
    pub(crate) fn ask_in_place(&self) {
        let driver = self.site.home.lock().driver;
        let mut events = crate::sys::poller::Events::new();
        if let Some(driver) = driver {
            driver.poll_for_owner(&mut events);
            super::table::notify_all(&events);
        }
    }

    /// Returns the waiters.
    #[cfg_attr(
        any(pirn_modelled, not(unix)),
        expect(dead_code, reason = "only `select` uses it")
    )]
    pub(crate) fn waits(&self) -> &Lock<Waits> {
        &self.site.waits
    }

    /// Returns true if events come through `driver`, or through the common one. Requires the lock
    /// of the queues.
    #[cfg_attr(
        any(pirn_modelled, not(unix)),
        expect(dead_code, reason = "only `select` uses it")
    )]
    pub(crate) fn is_near(&self, driver: &'static Driver) -> bool {
        self.site.is_near(driver)
    }

    /// Returns the known readiness, for an attempt outside of [`operate`](Self::operate).
    pub(crate) fn look(&self) -> Seen {
        self.site.look()
    }

    /// Records that the attempt made after `seen` would have had to wait.
    pub(crate) fn clear(&self, seen: Seen, interest: Interest) {
        self.site.clear(seen, interest);
    }

    /// Moves the source to the caller's driver, and returns that driver: the one of its worker, or
    /// the common one if the caller blocks its thread. If others wait through another driver, the
    /// source moves to the common driver instead.
    ///
    /// # Errors
    /// The operating system's error: the handle cannot be watched, or there is no memory.
    #[inline]
    pub(crate) fn register_here(&self, raw: RawSource) -> io::Result<&'static Driver> {
        self.register_here_if(raw, || true)
    }

    /// As [`register_here`](Self::register_here); the source stays where it is if `may_move`
    /// returns false under the lock of its home.
    #[inline]
    fn register_here_if(
        &self,
        raw: RawSource,
        may_move: impl Fn() -> bool,
    ) -> io::Result<&'static Driver> {
        let local = current::local();
        let in_place = local.fiber().is_none() || panicking();
        let driver = match local.driver() {
            Some(driver) if !in_place => driver,
            _ => common::driver(),
        };
        // ORDERING: Relaxed: a hint; see `move_near`.
        let known = self.site.driver.load(Ordering::Relaxed);
        if !ptr::eq(known, driver) {
            self.register(raw, driver, may_move)?;
        }
        Ok(driver)
    }

    #[cold]
    fn register(
        &self,
        raw: RawSource,
        driver: &'static Driver,
        may_move: impl Fn() -> bool,
    ) -> io::Result<()> {
        if ptr::eq(driver, common::driver()) {
            common::start()?;
        }
        let mut home = self.site.home.lock();
        if !may_move() {
            return Ok(());
        }
        match home.driver {
            Some(own) if ptr::eq(own, driver) => return Ok(()),
            Some(_) => return self.move_near(&mut home, driver),
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

// UNWIND: each change of a source is complete before code that may panic runs.
impl UnwindSafe for Source {}
impl RefUnwindSafe for Source {}

/// Calls `attempt`, again after `EINTR`, for an operation that must not wait.
///
/// The known readiness cannot decide whether it succeeds: a source without waiters may be in no
/// driver, and events are fetched later than they happen. It stays as it is: an attempt without a
/// clearing loses no event.
#[cold]
pub(super) fn attempt_now<R>(
    mut attempt: impl FnMut() -> io::Result<R>,
) -> io::Result<R> {
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

impl Source {
    /// Moves the source to `driver`; if others wait through another one, to the common driver,
    /// which no worker can hold up.
    ///
    /// LIVENESS: a waiter checks the source's driver when it joins the queue, in one critical
    /// section. So either it sees that the source has moved, and registers it again, or this
    /// function sees the waiter after the move.
    fn move_near(&self, home: &mut Home, driver: &'static Driver) -> io::Result<()> {
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
            // A waiter that joined its queue before the first move waits through that driver.
            if let Some(before) = before
                && !mutant!("site_first_driver_unnoted")
            {
                before.set_shares();
            }
        }
        if !home.driver.is_some_and(|own| ptr::eq(own, driver)) {
            // `driver` is the caller's; `move_to` records it in the others.
            driver.set_shares();
        }
        Ok(())
    }
}

/// For numbers of descriptors (`number`).
#[cfg(target_os = "linux")]
impl Source {
    /// As [`wait`](Self::wait), but rearms the registration first: the number may stand for another
    /// object than before. `call` is the function and the descriptor, for reports. Registers
    /// nothing if `has_ended` returns true under the lock of the source's home. Returns at once if
    /// it does under the lock of the queues.
    ///
    /// LIVENESS: the caller finds the source not ready, then rearms the registration. If the source
    /// is ready by then, rearming makes a new event, so earlier events do not matter. The caller is
    /// counted before it rearms and until its wait has ended. So another caller that rearms keeps
    /// this caller's side.
    ///
    /// # Errors
    /// Like [`wait`](Self::wait).
    #[track_caller]
    pub(super) fn wait_anew(
        &self,
        raw: RawSource,
        call: (&'static str, i32),
        interest: Interest,
        spec: &Spec,
        has_ended: impl Fn() -> bool,
    ) -> io::Result<()> {
        let goes_on = || !has_ended();
        self.register_here_if(raw, goes_on)?;
        let waits = &self.site.waits;
        let late = mutant!("call_counted_late");
        if !late {
            waits.lock().begin_call(call, interest);
        }
        let rearmed = self.rearm(raw, goes_on);
        if late {
            waits.lock().begin_call(call, interest);
        }
        let may_wait = || goes_on() || mutant!("call_waits_over_end");
        let waited =
            rearmed.and_then(|()| self.wait_while(raw, interest, spec, may_wait));
        waits.lock().end_call(interest);
        waited
    }

    /// Records that an attempt made after `seen` has taken all there was.
    pub(super) fn drained(&self, seen: Seen, interest: Interest) {
        self.site.drained(seen, interest);
    }

    /// Rearms the registration for the sides that calls wait for.
    fn rearm(&self, raw: RawSource, goes_on: impl Fn() -> bool) -> io::Result<()> {
        let home = self.site.home.lock();
        let Some(driver) = home.driver.filter(|_| goes_on()) else {
            return Ok(());
        };
        let (generation, sides) = self.site.waits.lock().calls();
        match mutant!("call_not_rearmed") {
            true => Ok(()),
            false => driver.rearm(raw, token(self.number, generation), sides),
        }
    }

    /// Removes the source from its driver and wakes all that wait for it: its descriptor is about
    /// to be closed.
    pub(super) fn abandon(&self) {
        let mut home = self.site.home.lock();
        if let (Some(driver), Some(raw)) = (home.driver.take(), home.raw.take()) {
            driver.remove(raw);
        }
        // Under the lock of the queues: a waiter that sees there that the source has no driver also
        // sees the count of ends that the caller has incremented.
        let waits = (!mutant!("end_forgets_unlocked")).then(|| self.site.waits.lock());
        self.site.forget_driver();
        drop((waits, home));
        self.site.wake_waiters();
    }
}

impl Site {
    /// Moves a source from its current driver to `driver`. For a moment both may report the same
    /// event; the second report is harmless.
    ///
    /// # Errors
    /// The other driver does not accept it; it stays where it is.
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

    /// Returns true if events come through `driver`, or through the common one. Requires the lock
    /// of the queues.
    pub(super) fn is_near(&self, driver: &'static Driver) -> bool {
        // ORDERING: Relaxed: see LIVENESS of `move_near`.
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
        self.site.forget_driver();
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

pub(super) fn reason(interest: Interest) -> Reason {
    match interest {
        Interest::Readable => Reason::Readable,
        Interest::Writable => Reason::Writable,
    }
}

/// Returns the error of an operation with an expired limit of its own.
#[cold]
pub(crate) fn timed_out() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the time for this operation is up")
}

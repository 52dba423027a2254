//! A worker's timers, and their clock.
//!
//! Owns: the step between a worker and its wheel. Does not own: the wheel (`timer`), nor the
//! virtual clock of a deterministic runtime (`sched::deterministic::seeded`), which replaces the
//! real one for both the wheel and the fibers.

use std::ptr::NonNull;
use std::time::Instant;

use crate::base::clock;
use crate::fiber::Ticket;
use crate::fiber::state::Code;
use crate::sched::worker::run::Worker;
use crate::shim;
use crate::timer::Timer;

impl Worker {
    /// Publishes the due times of this worker's timers to the monitor.
    pub(super) fn show_timers(&self) {
        if !self.migration.is_on() {
            // SAFETY: K1.
            let wheel = unsafe { &*self.wheel.get() };
            *self.remote().timers.lock() = Some(wheel.levels());
        }
    }

    /// Returns the present moment of this worker's fibers.
    #[inline]
    pub(in crate::sched) fn present(&self) -> Instant {
        match &self.seeded {
            None => shim::now(),
            Some(seeded) => seeded.present(),
        }
    }

    /// Returns the present moment as the wheel counts it.
    #[inline]
    pub(in crate::sched) fn wheel_time(&self) -> u64 {
        match &self.seeded {
            None => clock::now(),
            Some(seeded) => seeded.wheel_time(),
        }
    }

    /// Wakes the fibers with timers due by `now`, as the wheel counts it.
    pub(in crate::sched) fn fire_timers(&self, now: u64) {
        if self.migration.is_on() {
            self.migration.fire_timers(now);
            return;
        }
        // SAFETY: K1: firing claims tickets and fills the ready list; it does not come back
        // to the wheel.
        let wheel = unsafe { &mut *self.wheel.get() };
        wheel.advance(now, |ticket| {
            let wake = ticket.claim(Code::TIMED_OUT);
            if let Some(wake) = wake {
                wake.enqueue();
            }
        });
    }

    /// Returns when the next timer is due, as the wheel counts it.
    #[inline]
    pub(in crate::sched) fn next_timer(&self) -> Option<u64> {
        if self.migration.is_on() {
            return self.migration.next_timer();
        }
        // SAFETY: K1.
        unsafe { &*self.wheel.get() }.next_deadline()
    }

    /// True if a timer is due that has not fired.
    pub(super) fn timer_is_due(&self) -> bool {
        self.next_timer().is_some_and(|at| at <= self.wheel_time())
    }

    /// Returns until when this worker may sleep because of its timers. Where time is virtual, that
    /// is until time is no longer held: while the worker sleeps, time stands still.
    pub(super) fn alarm(&self) -> Option<Instant> {
        match &self.seeded {
            None => self.next_timer().and_then(clock::instant),
            Some(seeded) => seeded.hold.until().and_then(clock::instant),
        }
    }

    /// # Safety
    /// As `Schedule::arm`.
    #[inline(always)]
    pub(in crate::sched) unsafe fn arm(
        &self,
        timer: NonNull<Timer<Ticket>>,
        deadline: u64,
    ) -> usize {
        if self.migration.is_on() {
            // SAFETY: the caller's promise.
            return unsafe { self.arm_common(timer, deadline) };
        }
        // SAFETY: K1.
        let wheel = unsafe { &mut *self.wheel.get() };
        match &self.seeded {
            // SAFETY: the caller's promise.
            None => unsafe { wheel.arm_coarse(timer, deadline) },
            // Virtual time is exact.
            // SAFETY: as above.
            Some(seeded) => unsafe { wheel.arm(timer, seeded.wheel_deadline(deadline)) },
        }
        self.index
    }

    /// # Safety
    /// As `Schedule::disarm`.
    #[inline(always)]
    pub(in crate::sched) unsafe fn disarm(
        &self,
        timer: NonNull<Timer<Ticket>>,
        wheel: usize,
    ) -> bool {
        if self.migration.is_on() {
            // SAFETY: the caller's promise: armed there, if it is armed.
            return unsafe { self.disarm_common(wheel, timer) };
        }
        // SAFETY: K1.
        let wheel = unsafe { &mut *self.wheel.get() };
        // SAFETY: the caller's promise.
        unsafe { wheel.disarm(timer) }
    }

    /// Arms a timer on the wheel from which other workers may take it.
    ///
    /// # Safety
    /// As `Schedule::arm`.
    #[inline(never)]
    pub(in crate::sched) unsafe fn arm_common(
        &self,
        timer: NonNull<Timer<Ticket>>,
        deadline: u64,
    ) -> usize {
        if let Some(shared_queues) = self.migration.queues() {
            // SAFETY: the caller's promise.
            unsafe { shared_queues.arm(timer, deadline) };
        }
        self.index
    }

    /// Takes a timer back from the wheel of any worker, where fibers may migrate.
    ///
    /// # Safety
    /// As `Schedule::disarm`.
    #[inline(never)]
    pub(in crate::sched) unsafe fn disarm_common(
        &self,
        wheel: usize,
        timer: NonNull<Timer<Ticket>>,
    ) -> bool {
        let migration = self.pool.remotes[wheel].migration;
        let queues = migration.queues();
        // SAFETY: the caller's promise.
        let armed = queues.is_some_and(|queues| unsafe { queues.disarm(timer) });
        let apart = wheel != self.index && wheel >= self.pool.workers();
        if armed && apart && migration.next_timer().is_none() {
            // That worker may end now, but sleeps until that timer.
            self.pool.remotes[wheel].inbox.unpark();
        }
        armed
    }
}

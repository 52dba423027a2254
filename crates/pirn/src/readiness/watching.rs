//! A source in a choice: watched without a waiting frame of its own.

use std::io;

use std::pin::Pin;

use pin_project_lite::pin_project;

use super::interest::Interest;
use super::source::{Source, attempt_now};
use crate::fiber::state::Code;
use crate::sys::poller::RawSource;
use crate::wait::choice::Call;
use crate::wait::wait_info::Subject;
use crate::wait::waiter_slot::WaiterSlot;

pin_project! {
    /// One side of a source, with a slot for one waiter.
    ///
    /// An event completes nothing: a woken party tries again.
    pub(crate) struct Watching<'a> {
        source: &'a Source,
        raw: RawSource,
        interest: Interest,
        #[pin]
        slot: WaiterSlot<()>,
    }
}

impl<'a> Watching<'a> {
    pub(crate) fn new(source: &'a Source, raw: RawSource, interest: Interest) -> Self {
        Watching {
            source,
            raw,
            interest,
            slot: WaiterSlot::new(),
        }
    }

    pub(crate) fn interest(&self) -> Interest {
        self.interest
    }

    /// Calls `attempt`; returns its result unless it would have to wait.
    pub(crate) fn attempt<R>(
        &self,
        mut attempt: impl FnMut() -> io::Result<R>,
    ) -> Option<io::Result<R>> {
        self.source.attempt(self.interest, &mut attempt, &|_| false)
    }

    /// Calls `attempt` even if no event has reported the source ready: a caller that does not wait
    /// gets no event.
    pub(crate) fn attempt_anew<R>(
        &self,
        attempt: impl FnMut() -> io::Result<R>,
    ) -> Option<io::Result<R>> {
        match attempt_now(attempt) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            done => Some(done),
        }
    }

    /// Registers the caller for the next event. False: an attempt may succeed now, and nothing is
    /// registered.
    ///
    /// # Errors
    /// The source cannot be watched; nothing is registered.
    pub(crate) fn publish(self: Pin<&Self>, call: Call) -> io::Result<bool> {
        let driver = self.source.register_here(self.raw)?;
        let mut waits = self.source.waits().lock();
        if self.source.look().is_ready(self.interest) || !self.source.is_near(driver) {
            return Ok(false);
        }
        let queue = waits.queue(self.interest);
        self.project_ref()
            .slot
            .link(queue, call.ticket, Code::RETRY, ());
        Ok(true)
    }

    /// Deregisters [`publish`](Self::publish).
    pub(crate) fn withdraw(self: Pin<&Self>) {
        let mut waits = self.source.waits().lock();
        self.project_ref().slot.unlink(waits.queue(self.interest));
    }

    /// For reports.
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject::of(self.source.waits())
    }
}

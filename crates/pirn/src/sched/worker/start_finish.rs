//! A fiber's life on its worker: its first run, when it gets a stack and settles, and its end, when
//! it returns the stack.

use crate::context::{OutOfStacks, Stack};
use crate::fiber::current::Local;
use crate::fiber::entry::fiber_main;
use crate::fiber::state_names::State;
use crate::fiber::{FiberPtr, Header};
use crate::report::fiber_info::{self, FiberInfo, Sighting};
use crate::sched::pool::phase::Phase;
use crate::sched::worker::run::Worker;
use crate::wait::Reason;

impl Worker {
    /// Settles a fresh fiber here. False if it starts on another worker, or if there is no stack
    /// for it and it waits.
    #[inline(never)]
    pub(in crate::sched) fn start(&self, fiber: FiberPtr) -> bool {
        if fiber.header().placement.get() != 0 && !self.starts_here(fiber) {
            return false;
        }
        match self.find_stack(fiber) {
            Ok(()) => true,
            Err(why) => {
                self.wait_for_stack(fiber, &why);
                false
            }
        }
    }

    /// As [`start`](Self::start); but without a stack the fiber is left as it is.
    pub(super) fn start_if_possible(&self, fiber: FiberPtr) -> bool {
        self.find_stack(fiber).is_ok()
    }

    #[inline(always)]
    fn find_stack(&self, fiber: FiberPtr) -> Result<(), OutOfStacks> {
        let stack = self.take_stack(fiber.header().stack_size())?;
        self.start_on(fiber, stack);
        Ok(())
    }

    /// Settles a fresh fiber here, to run on `stack`.
    #[inline]
    pub(super) fn start_on(&self, fiber: FiberPtr, stack: Stack) {
        // SAFETY: H2: a fresh fiber's context is its owner's.
        let context = unsafe { &mut *fiber.header().context() };
        // SAFETY: the stack is unused; `fiber_main` takes a header.
        unsafe { context.prepare(&stack, fiber_main, fiber.as_ptr().cast()) };
        self.settle(fiber, stack);
    }

    /// Binds a fresh fiber to this worker and to `stack`.
    #[inline]
    pub(in crate::sched) fn settle(&self, fiber: FiberPtr, stack: Stack) {
        let header = fiber.header();
        let remote = self.remote();
        header.life.step(State::Runnable);
        stack.plant_canary();
        // SAFETY: the header holds the stack until the fiber has left it.
        unsafe { stack.set_owner(fiber.as_ptr().cast()) };
        // SAFETY: H2.
        unsafe { *header.stack() = Some(stack) };
        if let Some(shared_queues) = self.migration.queues() {
            self.settle_free(shared_queues, fiber);
            return;
        }
        header.set_home(remote.inbox);
        self.queues.link_started(fiber);
        remote.settled.add(1);
        if header.placement.get() != 0 {
            self.start_tracked(fiber);
        }
        remote.counters.started.increment();
        if self.role.seen() >= Phase::Cancelled {
            // An active fiber: there is nothing to enqueue.
            header.cancel_with_runtime();
        }
    }

    /// Step 7 of a fiber's end (`fiber::entry`): it has left its stack.
    #[inline]
    pub(in crate::sched) fn finish(&self, local: &Local, fiber: FiberPtr) {
        let header = fiber.header();
        // SAFETY: H2: the fiber has ended, so its worker owns the field.
        let stack =
            unsafe { (*header.stack()).take() }.expect("a started fiber has a stack");
        self.give_stack(stack, header.stack_size());
        self.retire(local, fiber);
        if self.pool.stack_waiters.is_watched() {
            self.start_stackless();
        }
    }

    /// Removes a fiber that has ended, and has no stack any more, from the lists.
    #[inline(always)]
    pub(super) fn retire(&self, local: &Local, fiber: FiberPtr) {
        if self.migration.is_on() {
            self.retire_free(fiber);
            return;
        }
        fiber.header().state.finish();
        fiber.header().life.end();
        self.queues.unlink_started(fiber);
        let remote = self.remote();
        remote.settled.add(-1);
        if fiber.header().placement.get() != 0 {
            self.end_tracked(fiber);
        }
        remote.counters.completed.increment();
        // SAFETY: the runtime's reference, owned by the worker that ends the fiber.
        unsafe { Header::release_on(local, fiber) };
        self.pool.look_for_quiet();
    }

    /// Describes the first fiber that has started here and waits for one of `reasons`, without a
    /// backtrace.
    ///
    /// # Safety
    /// No fiber runs on this worker, and none does before this returns.
    pub(in crate::sched) unsafe fn describe_waiting(
        &self,
        reasons: &[Reason],
    ) -> Option<FiberInfo> {
        let mut found = None;
        self.each_started(|fiber| {
            let reason = || {
                // SAFETY: this worker's own, and the caller's promise.
                let reason = unsafe { fiber_info::reason(fiber) };
                reason.filter(|it| reasons.contains(it))
            };
            if found.is_none() && fiber_info::waits(fiber) && reason().is_some() {
                // SAFETY: this worker's own, and the caller's promise: no fiber runs here.
                let seen = unsafe {
                    FiberInfo::sight(self.index, fiber, State::Parked, false, true)
                };
                let Sighting { mut info, subject } = seen;
                // SAFETY: NO2: its fiber still waits.
                info.waits_for = subject.map(|subject| unsafe { subject.describe() });
                found = Some(info);
            }
        });
        found
    }
}

//! A fiber's life on its worker: its first run, when it gets a stack and settles; its end, when it
//! returns the stack; and the wait for a stack when there is none.

use crate::context::{OutOfStacks, Stack};
use crate::fiber::current::{self, Local};
use crate::fiber::entry::fiber_main;
use crate::fiber::life::State;
use crate::fiber::{FiberPtr, Header};
use crate::sched::pool::shared::Phase;
use crate::sched::worker::run::{Worker, header};

impl Worker {
    /// Settles a fresh fiber here. False if it starts on another worker, or if there is no stack for it
    /// and it waits.
    #[inline(never)]
    pub(in crate::sched) fn start(&self, fiber: FiberPtr) -> bool {
        if header(fiber).placement.get() != 0 && !self.starts_here(fiber) {
            return false;
        }
        match self.find_stack(fiber) {
            Ok(()) => true,
            Err(why) => {
                self.starve(fiber, &why);
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
        let stack = self.take_stack(header(fiber).stack_size())?;
        self.start_on(fiber, stack);
        Ok(())
    }

    /// Takes a stack of `size` bytes, or of the usual size.
    #[inline]
    pub(super) fn take_stack(&self, size: Option<usize>) -> Result<Stack, OutOfStacks> {
        // SAFETY: K1.
        let stacks = unsafe { &mut *self.stacks.get() };
        match size {
            // No poll is running; the stack for polls counts as one at hand.
            None => stacks
                .take(&self.pool.stacks)
                .or_else(|why| current::local().take_spare().ok_or(why)),
            Some(size) => self.pool.stacks.take_sized(size),
        }
    }

    /// Settles a fresh fiber here, to run on `stack`.
    #[inline]
    pub(super) fn start_on(&self, fiber: FiberPtr, stack: Stack) {
        // SAFETY: H2: a fresh fiber's context is its owner's.
        let context = unsafe { &mut *header(fiber).context.get() };
        // SAFETY: the stack is unused; `fiber_main` takes a header.
        unsafe { context.prepare(&stack, fiber_main, fiber.as_ptr().cast()) };
        self.settle(fiber, stack);
    }

    /// Binds a fresh fiber to this worker and to `stack`.
    #[inline]
    pub(in crate::sched) fn settle(&self, fiber: FiberPtr, stack: Stack) {
        let header = header(fiber);
        let remote = self.remote();
        header.life.step(State::Runnable);
        stack.plant_canary();
        // SAFETY: the header holds the stack until the fiber has left it.
        unsafe { stack.set_owner(fiber.as_ptr().cast()) };
        // SAFETY: H2.
        unsafe { *header.stack.get() = Some(stack) };
        if let Some(commons) = self.commons {
            self.settle_free(commons, fiber);
            return;
        }
        header.set_home(remote.mailbox);
        // SAFETY: K1.
        let started = unsafe { &mut *self.started.get() };
        // SAFETY: a header is pinned (H1), and is unlinked in `retire`.
        unsafe { started.push_back(fiber) };
        remote.settled.add(1);
        if header.placement.get() != 0 {
            self.start_tracked(fiber);
        }
        remote.counters.started.increment();
        if self.seen.get() >= Phase::Cancelled {
            // An active fiber: there is nothing to enqueue.
            header.state.cancel();
        }
    }

    /// Step 7 of a fiber's end (`fiber::entry`): it has left its stack.
    #[inline]
    pub(in crate::sched) fn finish(&self, local: &Local, fiber: FiberPtr) {
        let header = header(fiber);
        // SAFETY: H2: the fiber has ended, so its worker owns the field.
        let stack =
            unsafe { (*header.stack.get()).take() }.expect("a started fiber has a stack");
        if header.stack_size().is_none() {
            // SAFETY: K1.
            unsafe { (*self.stacks.get()).give(stack, &self.pool.stacks) };
        } else {
            self.pool.stacks.give(stack);
        }
        self.retire(local, fiber);
        if self.pool.starved.is_watched() {
            self.feed();
        }
    }

    /// Removes a fiber that has ended, and has no stack any more, from the lists.
    #[inline(always)]
    pub(super) fn retire(&self, local: &Local, fiber: FiberPtr) {
        if self.commons.is_some() {
            self.retire_free(fiber);
            return;
        }
        header(fiber).state.finish();
        header(fiber).life.end();
        // SAFETY: K1.
        let started = unsafe { &mut *self.started.get() };
        // SAFETY: linked in `settle`, in this list.
        unsafe { started.remove(fiber) };
        let remote = self.remote();
        remote.settled.add(-1);
        if header(fiber).placement.get() != 0 {
            self.end_tracked(fiber);
        }
        remote.counters.completed.increment();
        // SAFETY: the runtime's reference, owned by the worker that ends the fiber.
        unsafe { Header::release_on(local, fiber) };
        self.pool.look_for_quiet();
    }

    /// Puts a fresh fiber aside until a stack becomes available.
    #[cold]
    fn starve(&self, fiber: FiberPtr, why: &OutOfStacks) {
        self.remote().counters.stack_waits.increment();
        self.pool.starved.push(fiber, why);
        // LIVENESS: stacks may be in the caches of workers that sleep: they wake and give them up
        // (`relieve`). A stack that becomes available from now on finds the fiber on the list
        // (`finish`); one that became available before is found by this worker's own `relieve`.
        self.pool.rouse();
    }

    /// Called before the worker rests. While fibers wait for stacks, gives up the stacks that the
    /// worker keeps, and takes one of those fibers if there is a stack for it now. True if it took one,
    /// which is in its ring; under `SingleQueue` no other worker looks there.
    #[must_use = "a worker with a fiber in its ring does not rest"]
    pub(in crate::sched) fn relieve(&self) -> bool {
        if self.pool.starved.is_empty() {
            return false;
        }
        self.put_spare_away(current::local());
        let gave = self.give_stacks_back();
        if self.is_taken() {
            if gave {
                // LIVENESS: this worker takes none of those fibers, and the others may have
                // looked for a stack before.
                self.pool.rouse();
            }
            return false;
        }
        let stacks = &self.pool.stacks;
        let fed = self.pool.starved.pop_if(|fiber| {
            let stack = match header(fiber).stack_size() {
                None => stacks.take(),
                Some(size) => stacks.take_sized(size),
            };
            stack.map(|stack| stacks.give(stack)).is_ok()
        });
        if let Some(fiber) = fed {
            self.keep_fresh(fiber);
        }
        fed.is_some()
    }

    /// Returns the unused stacks here to the pool; false if there were none.
    pub(in crate::sched) fn give_stacks_back(&self) -> bool {
        // SAFETY: K1.
        unsafe { (*self.stacks.get()).flush(&self.pool.stacks) }
    }

    /// A stack has become available: starts one of the fibers that wait for one, if possible. (It may
    /// have been one beyond the bound, of no use to that fiber. Then the fiber waits again, and so its
    /// waiters are asked again, which may have been refused one before.)
    #[cold]
    pub(super) fn feed(&self) {
        self.pool.starved.set_beyond(|| self.pool.stacks.beyond());
        if let Some(fiber) = self.pool.starved.pop_if(|_| true) {
            match self.draining.get() {
                false => self.keep_fresh(fiber),
                true => {
                    if self.pool.inject_from(self.index, fiber) {
                        self.remote().counters.wakes.increment();
                    }
                }
            }
        }
    }
}

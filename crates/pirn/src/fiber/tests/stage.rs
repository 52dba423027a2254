//! Fibers as other models need them: shipped headers, each played by a modelled thread, with
//! a home that puts that thread to sleep. No slab, no stack, no worker.
//!
//! A played fiber goes through the shipped `wait::park`, claims and enqueues. What stands in
//! for its worker is small: to suspend is to sleep on the header's own gate, to be scheduled
//! opens that gate. A timer fires, if its wait is not over by then, as soon as its fiber has
//! suspended: late by the clock's standards, but in any order with the wakers.

use std::alloc::{Layout, alloc, dealloc};
use std::cell::Cell;
use std::ptr::NonNull;

use crate::fiber::current::{self, Local};
use crate::fiber::header::{FiberPtr, Header};
use crate::fiber::schedule::Schedule;
use crate::fiber::slab;
use crate::fiber::state::Code;
use crate::fiber::ticket::Ticket;
use crate::shim::thread::{self, JoinHandle};
use crate::timer::Timer;

/// The memory of one header and its payload, and the home of whoever lives there.
pub(crate) struct Block {
    header: FiberPtr,
    home: NonNull<Home>,
}

// SAFETY: a model drops its blocks when all its threads have ended.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

/// A worker with one fiber.
struct Home {
    armed: Cell<Option<Ticket>>,
}

// SAFETY: `armed` is reached by the thread that plays the fiber only.
unsafe impl Sync for Home {}

/// A header on its way to the thread that plays it.
#[derive(Clone, Copy)]
pub(crate) struct Actor(pub(crate) FiberPtr);

// SAFETY: H1, for as long as the block lives.
unsafe impl Send for Actor {}

impl Block {
    pub(crate) fn new() -> Block {
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc(layout()) };
        let header = NonNull::new(memory.cast::<Header>()).expect("memory for a header");
        // SAFETY: long enough, aligned, and ours.
        unsafe { header.write(Header::vacant(0, 1)) };
        let home = NonNull::from(Box::leak(Box::new(Home {
            armed: Cell::new(None),
        })));
        Block { header, home }
    }

    /// Puts the block into this thread's magazine, where the next header comes from.
    pub(crate) fn stock(&self) {
        slab::free(current::local(), self.header);
    }

    /// A fiber with `refs` references, on this thread's magazine's first header: this one.
    pub(crate) fn renew(&self, refs: u32) -> Actor {
        self.stock();
        let local = current::local();
        Actor(slab::alloc(local, 0, std::panic::Location::caller(), refs))
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: lives as long as the block.
        unsafe { self.header.as_ref() }
    }

    pub(crate) fn pointer(&self) -> FiberPtr {
        self.header
    }

    fn home(&self) -> &'static Home {
        // SAFETY: freed when all threads of the model have ended, and with them every fiber.
        unsafe { self.home.as_ref() }
    }

    /// Runs `body` as the fiber that lives here, on this thread.
    pub(crate) fn play<R>(&self, body: impl FnOnce() -> R) -> R {
        self.header().set_home(self.home());
        let local = current::local();
        let before = local.fiber();
        local.set_fiber(Some(self.header));
        let result = body();
        current::local().set_fiber(before);
        result
    }

    /// Has a thread of its own play the fiber that lives here.
    pub(crate) fn start(
        self: &std::sync::Arc<Self>,
        body: impl FnOnce() + Send + 'static,
    ) -> JoinHandle<()> {
        let block = std::sync::Arc::clone(self);
        thread::spawn(String::new(), move || block.play(body)).expect("a modelled thread")
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: made in `new`; every thread that knew it has ended.
        drop(unsafe { Box::from_raw(self.home.as_ptr()) });
        // SAFETY: as above.
        unsafe { self.header.drop_in_place() };
        // SAFETY: as above.
        unsafe { dealloc(self.header.as_ptr().cast(), layout()) };
    }
}

fn layout() -> Layout {
    Layout::from_size_align(slab::block_size(0), align_of::<Header>()).expect("a layout")
}

impl Schedule for Home {
    fn schedule(&self, fiber: FiberPtr) {
        // SAFETY: H1.
        unsafe { fiber.as_ref() }.gate.unpark();
    }

    unsafe fn suspend(&self, _local: &Local, fiber: FiberPtr) {
        if let Some(ticket) = self.armed.take()
            && let Some(wake) = ticket.claim(Code::TIMED_OUT)
        {
            wake.enqueue();
        }
        // SAFETY: H1.
        unsafe { fiber.as_ref() }.gate.park();
    }

    unsafe fn requeue(&self, _local: &Local, _fiber: FiberPtr) {
        thread::yield_now();
    }

    fn landed(&self, _local: &Local) {}

    unsafe fn arm(&self, timer: NonNull<Timer<Ticket>>, _deadline: u64) -> usize {
        // SAFETY: the caller's timer is alive.
        self.armed.set(Some(unsafe { timer.as_ref() }.payload()));
        0
    }

    unsafe fn disarm(&self, _timer: NonNull<Timer<Ticket>>, _wheel: usize) -> bool {
        self.armed.take().is_some()
    }
}

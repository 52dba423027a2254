//! Fibers for other models: shipped headers, each simulated by a modelled thread, with a home that
//! puts that thread to sleep. No slab, no stack, no worker.
//!
//! A simulated fiber uses the shipped `wait::park`, claims and enqueues. The stand-in for its
//! worker is small: suspending parks in the header's own parker, and scheduling unparks it. If
//! its wait is not over by then, a timer fires as soon as its fiber has suspended: late compared
//! with the clock, but in any order with the wakers.

use std::alloc::{Layout, alloc, dealloc};
use std::cell::Cell;
use std::ptr::NonNull;

use crate::fiber::current::{self, Local};
use crate::fiber::schedule::Schedule;
use crate::fiber::slab;
use crate::fiber::state::Code;
use crate::fiber::ticket::Ticket;
use crate::fiber::{FiberPtr, Header};
use crate::shim::thread::{self, JoinHandle};
use crate::timer::Timer;

/// The memory of one header and its payload, and the home of the fiber in it.
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

// SAFETY: only the thread that simulates the fiber accesses `armed`.
unsafe impl Sync for Home {}

/// A header that is passed to the thread that simulates it.
#[derive(Clone, Copy)]
pub(crate) struct Actor(pub(crate) FiberPtr);

// SAFETY: H1, for as long as the block lives.
unsafe impl Send for Actor {}

impl Block {
    pub(crate) fn new() -> Block {
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc(layout()) };
        let header = NonNull::new(memory.cast::<Header>()).expect("memory for a header");
        // SAFETY: long enough, aligned, and used nowhere else.
        unsafe { header.write(Header::vacant(0, 1)) };
        let home = NonNull::from(Box::leak(Box::new(Home {
            armed: Cell::new(None),
        })));
        // SAFETY: H1: a model frees the block only after every thread that knew it has ended.
        let header = unsafe { FiberPtr::to(header) };
        Block { header, home }
    }

    /// Puts the block into this thread's magazine, the source of the next header.
    pub(crate) fn stock(&self) {
        slab::free(current::local(), self.header);
    }

    /// Returns a fiber with `refs` references on this header, the first of this thread's magazine.
    pub(crate) fn renew(&self, refs: u32) -> Actor {
        self.stock();
        let local = current::local();
        Actor(slab::alloc(local, 0, std::panic::Location::caller(), refs))
    }

    pub(crate) fn header(&self) -> &Header {
        self.header.header()
    }

    pub(crate) fn pointer(&self) -> FiberPtr {
        self.header
    }

    fn home(&self) -> &'static Home {
        // SAFETY: freed when all threads of the model have ended, and with them every fiber.
        unsafe { self.home.as_ref() }
    }

    /// Runs `body` as the fiber of this block, on this thread.
    pub(crate) fn play<R>(&self, body: impl FnOnce() -> R) -> R {
        self.header().set_home(self.home());
        let local = current::local();
        let before = local.fiber();
        local.set_fiber(Some(self.header));
        let result = body();
        current::local().set_fiber(before);
        result
    }

    /// Starts a thread that simulates the fiber of this block.
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
        // SAFETY: created in `new`; every thread that knew it has ended.
        drop(unsafe { Box::from_raw(self.home.as_ptr()) });
        // SAFETY: as above.
        unsafe { self.header.as_non_null().cast::<Header>().drop_in_place() };
        // SAFETY: as above.
        unsafe { dealloc(self.header.as_ptr().cast(), layout()) };
    }
}

fn layout() -> Layout {
    Layout::from_size_align(slab::block_size(0), align_of::<Header>()).expect("a layout")
}

impl Schedule for Home {
    fn schedule(&self, fiber: FiberPtr) {
        fiber.header().parker.unpark();
    }

    unsafe fn suspend(&self, _local: &Local, fiber: FiberPtr) {
        if let Some(ticket) = self.armed.take()
            && let Some(wake) = ticket.claim(Code::TIMED_OUT)
        {
            wake.enqueue();
        }
        fiber.header().parker.park();
    }

    unsafe fn requeue(&self, _local: &Local, _fiber: FiberPtr) {
        thread::yield_now();
    }

    fn on_arrival(&self, _local: &Local) {}

    unsafe fn arm(&self, timer: NonNull<Timer<Ticket>>, _deadline: u64) -> usize {
        // SAFETY: the caller's timer is alive.
        self.armed.set(Some(unsafe { timer.as_ref() }.payload()));
        0
    }

    unsafe fn disarm(&self, _timer: NonNull<Timer<Ticket>>, _wheel: usize) -> bool {
        self.armed.take().is_some()
    }
}

//! The environment of a site in models: sockets, workers that fetch events, and fibers played by
//! modelled threads.
//!
//! A worker has one fiber. While that is suspended, the worker sleeps in its driver and delivers
//! the events that it fetches. While the fiber runs, the worker fetches nothing, like one that
//! computes for long.

use std::io;
use std::ptr;
use std::sync::Arc;

use crate::fiber::FiberPtr;
use crate::fiber::current::{self, Local};
use crate::fiber::schedule::Schedule;
use crate::fiber::tests::stage::Block;
use crate::readiness::common;
use crate::readiness::{Interest, Source, awaits, notify_all};
use crate::shim::atomic::{AtomicBool, Ordering};
use crate::shim::thread::{self, JoinHandle};
use crate::shim::{Mutex, lazy_static};
use crate::sys::poller::{Driver, Events, Wire};

lazy_static! {
    static ref WORKERS: [Worker; 2] = [Worker::new(), Worker::new()];
    static ref SOCKETS: [Socket; 2] = [Socket::new(), Socket::new()];
}

/// A worker with one fiber.
pub(super) struct Worker {
    pub(super) driver: Driver,
    /// Set when the fiber is to run again.
    woken: AtomicBool,
    suspended: AtomicBool,
}

/// Returns worker `number`.
pub(super) fn worker(number: usize) -> &'static Worker {
    &WORKERS[number]
}

impl Worker {
    fn new() -> Worker {
        let driver = Driver::new();
        driver.made().expect("a poller");
        Worker {
            driver,
            woken: AtomicBool::new(false),
            suspended: AtomicBool::new(false),
        }
    }

    /// Checks like the worker before its virtual time jumps (`sched::deterministic::hold`). No
    /// event comes meanwhile, and no other thread checks.
    pub(super) fn look_before_a_jump(&self) {
        if self.suspended.load(Ordering::Acquire) {
            let awaits = awaits(&self.driver, |waiters| !waiters.is_empty());
            assert!(awaits, "the worker overlooks its waiter");
        }
    }

    /// Runs `body` as the fiber of `block`, on this worker, which is the calling thread.
    pub(super) fn play<R>(&'static self, block: &Block, body: impl FnOnce() -> R) -> R {
        block.play(|| {
            block.header().set_home(self);
            current::local().set_worker(ptr::null(), Some(&self.driver));
            let result = body();
            current::local().set_worker(ptr::null(), None);
            result
        })
    }

    /// Starts a thread that plays this worker.
    pub(super) fn start(
        &'static self,
        block: &Arc<Block>,
        body: impl FnOnce() + Send + 'static,
    ) -> JoinHandle<()> {
        let block = Arc::clone(block);
        spawn(move || self.play(&block, body))
    }
}

impl Schedule for Worker {
    fn schedule(&self, _fiber: FiberPtr) {
        // A swap: loom may order a plain store before a swap that has already run.
        self.woken.swap(true, Ordering::Release);
        self.driver.wake();
    }

    unsafe fn suspend(&self, _local: &Local, _fiber: FiberPtr) {
        self.suspended.swap(true, Ordering::AcqRel);
        let mut events = Events::new();
        while !self.woken.swap(false, Ordering::Acquire) {
            self.driver.wait(&mut events, None);
            notify_all(&events);
        }
        self.suspended.swap(false, Ordering::AcqRel);
    }
}

/// Fetches the events of the common driver, and delivers them.
pub(super) fn ask_common() {
    let mut events = Events::new();
    common::driver().poll(&mut events);
    notify_all(&events);
}

/// Fetches and delivers the events of the common driver until `over` returns true. It is checked
/// after each event, and each [`ring`](common::ring). Requires a common driver that has started.
#[cfg(target_os = "linux")]
pub(super) fn serve_common(over: impl Fn() -> bool) {
    let mut events = Events::new();
    while !over() {
        common::driver().wait(&mut events, None);
        notify_all(&events);
    }
}

/// A count of items to read, and of free places to write.
pub(super) struct Socket {
    pub(super) wire: Wire,
    inside: Mutex<Inside>,
}

struct Inside {
    /// How often the object was replaced.
    object: usize,
    things: usize,
    room: usize,
}

/// Returns socket `number`: empty, and without free places.
pub(super) fn socket(number: usize) -> &'static Socket {
    &SOCKETS[number]
}

impl Socket {
    fn new() -> Socket {
        Socket {
            wire: Wire::default(),
            inside: Mutex::new(Inside {
                object: 0,
                things: 0,
                room: 0,
            }),
        }
    }

    /// Adds items and free places. One event reports both.
    pub(super) fn add(&self, things: usize, room: usize) {
        let mut inside = self.inside.lock();
        inside.things += things;
        inside.room += room;
        self.notify(&inside);
    }

    pub(super) fn has_things(&self) -> bool {
        self.inside.lock().things > 0
    }

    /// Closes the object, and opens the next one under its number.
    #[cfg(target_os = "linux")]
    pub(super) fn reopen(&self, things: usize) {
        let mut inside = self.inside.lock();
        self.wire.close();
        inside.object += 1;
        (inside.things, inside.room) = (things, 0);
        self.notify(&inside);
    }

    /// Reads or writes one item, unless it would have to wait. Returns the number of the object.
    pub(super) fn attempt(&self, interest: Interest) -> io::Result<usize> {
        let mut inside = self.inside.lock();
        let left = match interest {
            Interest::Readable => &mut inside.things,
            Interest::Writable => &mut inside.room,
        };
        if *left == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        *left -= 1;
        self.notify(&inside);
        Ok(inside.object)
    }

    /// Reads or writes one item, and waits for it.
    pub(super) fn operate(&'static self, source: &Source, interest: Interest) {
        let attempt = || self.attempt(interest);
        source
            .operate(&self.wire, interest, None, attempt, |_| false)
            .expect("nothing ends the wait");
    }

    fn notify(&self, inside: &Inside) {
        self.wire.set(inside.things > 0, inside.room > 0);
    }
}

/// Returns the memory for a fiber. It must be kept until all threads have ended.
pub(super) fn fiber() -> Arc<Block> {
    let block = Block::new();
    block.renew(1);
    Arc::new(block)
}

pub(super) fn source() -> Arc<Source> {
    Arc::new(Source::new().expect("a site"))
}

pub(super) fn spawn(body: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    thread::spawn(String::new(), body).expect("a modelled thread")
}

pub(super) fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("the thread passes"));
}

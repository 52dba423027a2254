//! Played fibers and modelled threads, and a value that loom watches.

use std::sync::Arc;
use std::time::Duration;

use crate::fiber::tests::stage::Block;
use crate::shim::thread::{self, JoinHandle};
use crate::shim::{self, UnsafeCell};
use crate::wait::{Reason, Spec};

/// A value that is to be written by one and read by nobody else meanwhile; loom reports who
/// does otherwise.
pub(super) struct Watched(UnsafeCell<u32>);

// SAFETY: none: that nobody meets is what the models find out.
unsafe impl Sync for Watched {}

impl Watched {
    pub(super) fn new() -> Watched {
        Watched(UnsafeCell::new(0))
    }

    pub(super) fn read(&self) {
        self.0.with(|_| ());
    }

    pub(super) fn write(&self) {
        self.0.with_mut(|_| ());
    }
}

/// Fibers for threads of the model to play. Whoever wakes one touches it to the end, so they
/// are dropped after all threads have ended.
pub(super) fn fibers<const N: usize>() -> [Arc<Block>; N] {
    [(); N].map(|()| {
        let block = Block::new();
        block.renew(1);
        Arc::new(block)
    })
}

/// A thread of the model that is no fiber.
pub(super) fn thread(body: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    thread::spawn(String::new(), body).expect("a modelled thread")
}

pub(super) fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("the thread passes"));
}

/// A wait that only a turn ends.
pub(super) fn patient() -> Spec {
    Spec::of(Reason::Park)
}

/// A wait with a limit.
pub(super) fn hasty() -> Spec {
    patient().until(Some(shim::now() + Duration::from_secs(1)))
}

//! Fibers on modelled threads, and a value that loom checks.

use std::sync::Arc;
use std::time::Duration;

use crate::fiber::tests::stage::Block;
use crate::shim::thread::{self, JoinHandle};
use crate::shim::{self, UnsafeCell};
use crate::wait::{Reason, Spec};

/// A value that must not be accessed by another party while one writes it; loom reports a
/// violation.
pub(super) struct Watched(UnsafeCell<u32>);

// SAFETY: none: the models check that no two accesses overlap.
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

/// Fibers that threads of the model run. A waker accesses its fiber until it is finished, so they
/// are dropped after all threads have ended.
pub(super) fn fibers<const N: usize>() -> [Arc<Block>; N] {
    [(); N].map(|()| {
        let block = Block::new();
        block.renew(1);
        Arc::new(block)
    })
}

/// Starts a thread of the model that is not a fiber.
pub(super) fn thread(body: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    thread::spawn(String::new(), body).expect("a modelled thread")
}

pub(super) fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("the thread passes"));
}

/// Returns the spec of a wait that only a turn ends.
pub(super) fn patient() -> Spec {
    Spec::of(Reason::Park)
}

/// Returns the spec of a wait with a time limit.
pub(super) fn hasty() -> Spec {
    patient().until(Some(shim::now() + Duration::from_secs(1)))
}

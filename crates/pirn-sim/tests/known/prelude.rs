//! What the programs use, on fibers.

use pirn::channel::{self, Receiver, Sender};

pub(crate) use pirn::sim::atomic::AtomicUsize;
pub(crate) use pirn::sync::{Condvar, Mutex};
pub(crate) use pirn::{spawn, yield_now};

/// Both ends of a channel, which is never closed.
pub(crate) struct Chan<T> {
    tx: Sender<T>,
    rx: Receiver<T>,
}

impl<T> Chan<T> {
    pub(crate) fn new(capacity: usize) -> Chan<T> {
        let (tx, rx) = channel::bounded(capacity);
        Chan { tx, rx }
    }

    pub(crate) fn send(&self, value: T) {
        assert!(self.tx.send(value).is_ok(), "it is never closed");
    }

    pub(crate) fn try_send(&self, value: T) -> bool {
        self.tx.try_send(value).is_ok()
    }

    pub(crate) fn recv(&self) -> T {
        self.rx.recv().expect("it is never closed")
    }

    pub(crate) fn try_recv(&self) -> Option<T> {
        self.rx.try_recv().ok()
    }
}

/// Returns true or false at random, by the seed of the run.
pub(crate) fn coin() -> bool {
    let ready = Chan::new(1);
    ready.send(());
    pirn::select! {
        recv(ready.rx) -> _ => true,
        recv(ready.rx) -> _ => false,
    }
}

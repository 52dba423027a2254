//! Channels and fibers with the semantics that the kernels rely on.

use std::sync::Arc;

use pirn::channel::{self, Receiver, Sender};

/// Both ends of a channel. Ends that are dropped close no channel of a kernel: each fiber that uses
/// it has both of them.
pub(crate) struct Chan<T> {
    pub(crate) tx: Sender<T>,
    pub(crate) rx: Receiver<T>,
}

impl<T> Chan<T> {
    pub(crate) fn new(capacity: usize) -> Chan<T> {
        let (tx, rx) = channel::bounded(capacity);
        Chan { tx, rx }
    }

    /// # Panics
    /// If the channel is closed.
    pub(crate) fn send(&self, value: T) {
        assert!(self.tx.send(value).is_ok(), "a send on a closed channel");
    }

    /// Returns `None` if the channel is closed and empty.
    pub(crate) fn recv(&self) -> Option<T> {
        self.rx.recv().ok()
    }

    /// # Panics
    /// If the channel is closed already.
    pub(crate) fn close(&self) {
        assert!(self.tx.close(), "the channel was closed twice");
    }
}

impl<T> Clone for Chan<T> {
    fn clone(&self) -> Chan<T> {
        Chan {
            tx: self.tx.clone(),
            rx: self.rx.clone(),
        }
    }
}

/// Spawns a fiber that nothing joins, with a handle on the objects of the kernel.
pub(crate) fn go<S: Send + Sync + 'static>(
    shared: &Arc<S>,
    body: impl FnOnce(&Arc<S>) + Send + 'static,
) {
    let shared = Arc::clone(shared);
    pirn::spawn(move || body(&shared)).detach();
}

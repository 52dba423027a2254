//! What the programs use, on threads of shuttle. It has the interface of the prelude for fibers.

use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::MutexGuard;
use shuttle::sync::mpsc::{Receiver, SyncSender, sync_channel};

pub(crate) use shuttle::sync::atomic::AtomicUsize;
pub(crate) use shuttle::thread::{spawn, yield_now};

#[derive(Default)]
pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Mutex<T> {
        Mutex(shuttle::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap()
    }
}

#[derive(Default)]
pub(crate) struct Condvar(shuttle::sync::Condvar);

impl Condvar {
    pub(crate) fn new() -> Condvar {
        Condvar::default()
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap()
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

pub(crate) struct Chan<T> {
    tx: SyncSender<T>,
    rx: Receiver<T>,
}

impl<T> Chan<T> {
    pub(crate) fn new(capacity: usize) -> Chan<T> {
        let (tx, rx) = sync_channel(capacity);
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

pub(crate) fn coin() -> bool {
    thread_rng().gen_bool(0.5)
}

//! The registry under a model checker: there is no watcher.

use std::time::Instant;

use crate::fiber::FiberPtr;

/// A plain thread that has waited in this library.
#[derive(Debug)]
pub(crate) struct PlainThread {
    pub(crate) id: u64,
    pub(crate) name: Option<String>,
    pub(crate) sleep: Sleep,
}

/// Whether a plain thread sleeps in this library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(dead_code, reason = "no thread is registered")]
pub(crate) enum Sleep {
    None,
    Timed,
    Endless,
}

/// Does nothing.
pub(crate) fn attend() {}

/// Does nothing.
pub(crate) fn await_change(_until: Option<Instant>) {}

/// Does nothing.
pub(crate) fn stop() {}

/// Does nothing.
pub(crate) fn enter(_fiber: FiberPtr) {}

/// Does nothing.
pub(crate) fn leave(_fiber: FiberPtr) {}

/// Returns an empty list.
pub(crate) fn plain_threads() -> Vec<PlainThread> {
    Vec::new()
}

/// Runs `sleep`.
pub(crate) fn waiting<T>(_fiber: FiberPtr, _timed: bool, sleep: impl FnOnce() -> T) -> T {
    sleep()
}

/// Runs `f`.
pub(crate) fn external<T>(f: impl FnOnce() -> T) -> T {
    f()
}

/// Returns zero.
pub(crate) fn externals() -> usize {
    0
}

/// Runs `sleep`.
pub(crate) fn rest<T>(sleep: impl FnOnce() -> T) -> T {
    sleep()
}

/// Returns zero.
pub(crate) fn idle_service_threads() -> usize {
    0
}

/// An event that may come from outside of the process.
#[derive(Debug)]
pub(crate) struct ExternalWaker;

/// Registers nothing.
pub(crate) fn register_external_waker(
    _awaited: impl Fn() -> bool + Send + Sync + 'static,
) -> ExternalWaker {
    ExternalWaker
}

/// Returns false.
pub(crate) fn has_external_wakers() -> bool {
    false
}

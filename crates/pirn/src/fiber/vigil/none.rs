//! The vigil under a model checker: nobody watches.

use std::time::Instant;

use crate::fiber::FiberPtr;
use crate::fiber::header::Header;

/// A plain thread that has waited here before.
#[derive(Debug)]
pub(crate) struct Person {
    pub(crate) id: u64,
    pub(crate) name: Option<String>,
    pub(crate) sleep: Sleep,
}

/// Whether a plain thread sleeps in this library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(dead_code, reason = "nobody is registered")]
pub(crate) enum Sleep {
    None,
    Timed,
    Endless,
}

/// Nobody to tell.
pub(crate) fn attend() {}

/// Nobody waits.
pub(crate) fn await_change(_until: Option<Instant>) {}

/// Nobody has stopped.
pub(crate) fn stop() {}

/// Registers nobody.
pub(crate) fn enter(_fiber: FiberPtr) {}

/// Strikes nobody out.
pub(crate) fn leave(_fiber: FiberPtr) {}

/// Nobody.
pub(crate) fn persons() -> Vec<Person> {
    Vec::new()
}

/// Runs `sleep`.
pub(crate) fn waiting<T>(_header: &Header, _timed: bool, sleep: impl FnOnce() -> T) -> T {
    sleep()
}

/// Runs `f`.
pub(crate) fn external<T>(f: impl FnOnce() -> T) -> T {
    f()
}

/// None.
pub(crate) fn externals() -> usize {
    0
}

/// Runs `sleep`.
pub(crate) fn rest<T>(sleep: impl FnOnce() -> T) -> T {
    sleep()
}

/// None.
pub(crate) fn resters() -> usize {
    0
}

/// Somebody outside of the process may bring something about.
#[derive(Debug)]
pub(crate) struct Hope;

/// Tells nobody.
pub(crate) fn hope_for(_awaited: impl Fn() -> bool + Send + Sync + 'static) -> Hope {
    Hope
}

/// None.
pub(crate) fn hopes() -> bool {
    false
}

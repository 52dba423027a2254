//! The executors of a case's senders and receivers.

use std::thread;

/// An executor of concurrent code that may wait.
pub(super) trait Home {
    /// A handle of one.
    type Party;

    /// Starts one.
    fn spawn(work: impl FnOnce() -> u64 + Send + 'static) -> Self::Party;

    /// Waits for its result.
    fn join(party: Self::Party) -> u64;
}

/// Plain threads.
pub(super) struct Threads;

impl Home for Threads {
    type Party = thread::JoinHandle<u64>;

    fn spawn(work: impl FnOnce() -> u64 + Send + 'static) -> Self::Party {
        thread::spawn(work)
    }

    fn join(party: Self::Party) -> u64 {
        party.join().expect("no thread panics")
    }
}

/// Fibers of the pirn runtime that the caller is in.
pub(super) struct Fibers;

impl Home for Fibers {
    type Party = pirn::JoinHandle<u64>;

    fn spawn(work: impl FnOnce() -> u64 + Send + 'static) -> Self::Party {
        pirn::spawn(work)
    }

    fn join(party: Self::Party) -> u64 {
        party.join().expect("no fiber panics")
    }
}

/// Coroutines of may.
pub(super) struct Coroutines;

impl Home for Coroutines {
    type Party = may::coroutine::JoinHandle<u64>;

    fn spawn(work: impl FnOnce() -> u64 + Send + 'static) -> Self::Party {
        may::go!(work)
    }

    fn join(party: Self::Party) -> u64 {
        party.join().expect("no coroutine panics")
    }
}

//! A thread sleeps on a condition variable, with the interface of the futex: the mutex makes the
//! check of the word and the wake exclude each other.

use std::time::Instant;

use crate::base::mutant::mutant;
use crate::shim;
use crate::shim::atomic::{AtomicU32, Ordering};
use crate::shim::{Condvar, Mutex};

/// The mutex and condition variable on which the sleeper of one word sleeps.
#[derive(Debug)]
pub(crate) struct ThreadSleep {
    /// Held from the check of the word until the sleeper is registered with `woken`.
    lying_down: Mutex<()>,
    woken: Condvar,
}

impl ThreadSleep {
    pub(crate) fn new() -> Self {
        ThreadSleep {
            lying_down: Mutex::new(()),
            woken: Condvar::new(),
        }
    }

    /// Sleeps while `word` is `expected`, until woken or the deadline, or without a reason. False:
    /// the deadline has passed.
    pub(crate) fn sleep(
        &self,
        word: &AtomicU32,
        expected: u32,
        deadline: Option<Instant>,
    ) -> bool {
        let guard = self.lying_down.lock();
        // LIVENESS: if the waker locks first, its change of the word is seen here. If it locks
        // later, this thread is registered by then and is woken.
        if word.load(Ordering::Relaxed) != expected {
            return true;
        }
        match deadline {
            Some(at) if at <= shim::now() => return false,
            Some(at) => drop(self.woken.wait_until(guard, at)),
            None => drop(self.woken.wait(guard)),
        }
        deadline.is_none_or(|at| shim::now() < at)
    }

    /// Wakes the thread that sleeps on `word`, if one does.
    pub(crate) fn wake(&self, _word: &AtomicU32) {
        if !mutant!("parker_wake_unlocked") {
            drop(self.lying_down.lock());
        }
        self.woken.notify_one();
    }
}

//! The real machine: `std` atomics, a one-byte spin lock, OS threads, the OS clock.
//!
//! Invariants of [`Lock`]:
//! * L1. `held` is true from a successful `try_lock`/`lock` until the guard is dropped, and
//!   exactly one guard exists meanwhile.

use std::cell;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Instant;

#[cfg(any(pirn_modelled, pirn_parts))]
compile_error!(
    "pirn_modelled and pirn_parts go with a model checker: `cargo xtask model`"
);

/// Whether this is a model: without the system.
pub(crate) const MODELLED: bool = false;

/// Whether queues and tables are so small that a model can explore all of their states.
pub(crate) const SMALL: bool = false;

/// Whether a model's seed makes every random choice.
pub(crate) const SEEDED: bool = false;

pub(crate) mod atomic {
    pub(crate) use std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// A cell with accesses that loom checks for races; here it costs nothing.
pub(crate) use std::cell::Cell;

/// As [`Cell`], by pointer.
#[derive(Debug)]
pub(crate) struct UnsafeCell<T>(cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        UnsafeCell(cell::UnsafeCell::new(value))
    }

    /// Passes the pointer for reading to `f`.
    #[inline(always)]
    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Passes the pointer for writing to `f`.
    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }

    #[inline(always)]
    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

/// A lock for critical sections of a few instructions: one read-modify-write to acquire, a plain
/// store to release. Never held across a switch or a call into user code.
#[derive(Debug, Default)]
pub(crate) struct Lock<T> {
    held: atomic::AtomicBool,
    value: cell::UnsafeCell<T>,
}

// SAFETY: L1: the value is reached only through the one guard, so the lock moves it between
// threads and never shares it.
unsafe impl<T: Send> Sync for Lock<T> {}

// No user code runs under the lock, so no panic leaves the value half changed.
impl<T> UnwindSafe for Lock<T> {}
impl<T> RefUnwindSafe for Lock<T> {}

/// Checks of a held lock before the thread yields its core.
const ROUNDS: u32 = 12;

/// log2 of the longest pause between two checks.
const LONGEST_PAUSE: u32 = 6;

/// Proof that the lock is held; dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct LockGuard<'a, T> {
    lock: &'a Lock<T>,
    /// A shared guard lends `&T`: the guard is `Sync` only if `T` is.
    value: PhantomData<&'a mut T>,
}

impl<'a, T> LockGuard<'a, T> {
    /// Returns the guard of a lock that the caller has just acquired (L1).
    #[inline(always)]
    fn of(lock: &'a Lock<T>) -> Self {
        LockGuard {
            lock,
            value: PhantomData,
        }
    }
}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Lock {
            held: atomic::AtomicBool::new(false),
            value: cell::UnsafeCell::new(value),
        }
    }

    #[inline]
    pub(crate) fn lock(&self) -> LockGuard<'_, T> {
        self.lock_reporting_contention().0
    }

    /// Acquires the lock if it is free.
    pub(crate) fn try_lock(&self) -> Option<LockGuard<'_, T>> {
        let free = self.held.compare_exchange(
            false,
            true,
            atomic::Ordering::Acquire,
            atomic::Ordering::Relaxed,
        );
        free.ok().map(|_| LockGuard::of(self))
    }

    /// As [`lock`](Lock::lock), and returns whether the lock was contended.
    #[inline]
    pub(crate) fn lock_reporting_contention(&self) -> (LockGuard<'_, T>, bool) {
        let free = self.held.compare_exchange(
            false,
            true,
            atomic::Ordering::Acquire,
            atomic::Ordering::Relaxed,
        );
        if free.is_err() {
            self.lock_contended();
        }
        (LockGuard::of(self), free.is_err())
    }

    #[cold]
    fn lock_contended(&self) {
        // PERF: the pause doubles with each check. Two threads at the two ends of one channel would
        // otherwise pass the lock, and the lines under it, back and forth with every value. With
        // it, one of them does several operations at a time. Measured, bench/threads-spsc-1000. The
        // holder may be preempted: after some microseconds the thread yields its core.
        let mut round = 0;
        loop {
            if round < ROUNDS {
                for _ in 0..1_u32 << round.min(LONGEST_PAUSE) {
                    std::hint::spin_loop();
                }
                round += 1;
            } else {
                std::thread::yield_now();
            }
            if !self.held.load(atomic::Ordering::Relaxed)
                && self
                    .held
                    .compare_exchange_weak(
                        false,
                        true,
                        atomic::Ordering::Acquire,
                        atomic::Ordering::Relaxed,
                    )
                    .is_ok()
            {
                return;
            }
        }
    }

    /// Returns the value without acquiring the lock.
    ///
    /// # Safety
    /// No guard exists, and no other thread can reach the lock, while the result is used.
    #[inline(always)]
    pub(crate) unsafe fn unshared(&self) -> impl DerefMut<Target = T> {
        // SAFETY: L1: there is no guard, by the caller's promise.
        unsafe { &mut *self.value.get() }
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    pub(crate) fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T> Deref for LockGuard<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: L1: this guard is the only way to the value.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for LockGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: L1: this guard is the only way to the value.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for LockGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // ORDERING: pairs with the Acquire exchange in `Lock::lock`.
        self.lock.held.store(false, atomic::Ordering::Release);
    }
}

/// A lock that may be held for long, by threads only: the system puts the waiter to sleep.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

pub(crate) type MutexGuard<'a, T> = std::sync::MutexGuard<'a, T>;

impl<T> Mutex<T> {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub(crate) const fn new(value: T) -> Self {
        Mutex(std::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Acquires the mutex, if no other thread holds it.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(std::sync::TryLockError::Poisoned(poison)) => Some(poison.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }
}

/// The condition variable that goes with [`Mutex`].
#[derive(Debug, Default)]
pub(crate) struct Condvar(std::sync::Condvar);

impl Condvar {
    pub(crate) const fn new() -> Self {
        Condvar(std::sync::Condvar::new())
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0
            .wait(guard)
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Blocks until notified or until `deadline`; may wake without a reason.
    pub(crate) fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        deadline: Instant,
    ) -> MutexGuard<'a, T> {
        let left = deadline.saturating_duration_since(now());
        match self.0.wait_timeout(guard, left) {
            Ok((guard, _)) => guard,
            Err(poisoned) => poisoned.into_inner().0,
        }
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

pub(crate) mod thread {
    pub(crate) use std::thread::{JoinHandle, ThreadId, current, yield_now};

    /// Starts an OS thread with the platform's default stack.
    ///
    /// # Errors
    /// The error of the system if it cannot create another thread.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub(crate) fn spawn(
        name: String,
        f: impl FnOnce() + Send + 'static,
    ) -> super::io::Result<JoinHandle<()>> {
        std::thread::Builder::new().name(name).spawn(f)
    }
}

pub(crate) mod hint {
    #[cfg(not(test))]
    pub(crate) use std::hint::spin_loop;

    #[cfg(test)]
    pub(crate) use counted::{hints, spin_loop};

    /// The same with a counter, which tests use to bound the pauses of a spin.
    #[cfg(test)]
    mod counted {
        use std::cell::Cell;

        std::thread_local! {
            static HINTS: Cell<u64> = const { Cell::new(0) };
        }

        pub(crate) fn spin_loop() {
            HINTS.set(HINTS.get() + 1);
            std::hint::spin_loop();
        }

        /// Returns the number of this thread's hints.
        pub(crate) fn hints() -> u64 {
            HINTS.get()
        }
    }
}

/// Declares a thread-local with a constant initial value: no lazy check on access.
macro_rules! thread_local_const {
    ($(#[$meta:meta])* $vis:vis static $name:ident: $ty:ty = $init:expr) => {
        ::std::thread_local! { $(#[$meta])* $vis static $name: $ty = const { $init } }
    };
}
pub(crate) use thread_local_const;

/// Declares a static. Where modelled words cannot be in statics, each run of a model has its own.
macro_rules! run_static {
    (static $name:ident: $ty:ty = $init:expr;) => {
        static $name: $ty = $init;
    };
}
pub(crate) use run_static;

/// The lock of a `run_static`.
pub(crate) type RunLock<T> = StaticLock<T>;

/// The monotonic clock; the only place that reads it.
#[inline]
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Whether a thread that spins may see a change.
pub(crate) const WATCHING_PAYS: bool = true;

/// Returns a seed for one random generator; it differs from call to call and from run to run.
pub(crate) fn seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0_u64)
}

/// The lock of a process-wide store. Never modelled: such stores outlive a model's run, and the
/// code under this lock has no step that a model could interleave.
#[derive(Debug)]
pub(crate) struct StaticLock<T>(std::sync::Mutex<T>);

impl<T> StaticLock<T> {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub(crate) const fn new(value: T) -> Self {
        StaticLock(std::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> std::sync::MutexGuard<'_, T> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

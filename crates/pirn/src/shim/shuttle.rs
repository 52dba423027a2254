//! shuttle: the whole runtime, real fibers included, under random and PCT schedules of modelled
//! threads. Memory is sequentially consistent. The clock is that of [`clock`]: it moves when a
//! thread waits for it. Thread-locals are those of [`locals`].

#[path = "shuttle_clock.rs"]
mod clock;
#[path = "shuttle_locals.rs"]
#[expect(unsafe_code, reason = "values that are freed when their thread ends")]
mod locals;

use std::io;
use std::ops::{Deref, DerefMut};
use std::time::Instant;

pub(crate) use clock::now;
pub(crate) use locals::LocalKey;

#[cfg(any(not(pirn_modelled), pirn_parts))]
compile_error!("shuttle goes with `--cfg pirn_modelled`: `cargo xtask model`");

pub(crate) const MODELLED: bool = true;
pub(crate) const SMALL: bool = false;
pub(crate) const SEEDED: bool = true;

pub(crate) mod atomic {
    pub(crate) use shuttle::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// The cell of `std`: shuttle explores schedules, not memory.
pub(crate) use std::cell::Cell;

/// The cell of `std` with loom's interface: access by pointers, in closures.
#[derive(Debug)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

/// The short lock; shuttle blocks instead of spinning.
#[derive(Debug)]
pub(crate) struct Lock<T>(shuttle::sync::Mutex<T>);

pub(crate) type LockGuard<'a, T> = shuttle::sync::MutexGuard<'a, T>;

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Lock(shuttle::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> LockGuard<'_, T> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Acquires the lock if it is free.
    pub(crate) fn try_lock(&self) -> Option<LockGuard<'_, T>> {
        self.0.try_lock().ok()
    }

    /// As [`lock`](Lock::lock), and returns whether the lock was contended.
    pub(crate) fn lock_reporting_contention(&self) -> (LockGuard<'_, T>, bool) {
        match self.0.try_lock() {
            Ok(guard) => (guard, false),
            Err(_) => (self.lock(), true),
        }
    }

    /// Returns access to the value; the model acquires the lock nevertheless.
    ///
    /// # Safety
    /// No other thread can reach the lock while the result is used.
    pub(crate) unsafe fn unshared(&self) -> impl std::ops::DerefMut<Target = T> {
        self.lock()
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn into_inner(self) -> T {
        self.0
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl<T: Default> Default for Lock<T> {
    fn default() -> Self {
        Lock::new(T::default())
    }
}

/// The lock that may be held for long.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(Lock<T>);

/// Proof that the lock is held.
#[derive(Debug)]
pub(crate) struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    guard: LockGuard<'a, T>,
}

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Mutex(Lock::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard {
            mutex: self,
            guard: self.0.lock(),
        }
    }

    /// Acquires the mutex, if no other thread holds it.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let guard = self.0.try_lock()?;
        Some(MutexGuard { mutex: self, guard })
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// The condition variable that goes with [`Mutex`]. A wait with a deadline lets the other threads
/// run once, and then sets the clock to the deadline.
#[derive(Debug)]
pub(crate) struct Condvar(shuttle::sync::Condvar);

impl Condvar {
    pub(crate) const fn new() -> Self {
        Condvar(shuttle::sync::Condvar::new())
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let MutexGuard { mutex, guard } = guard;
        let guard = self
            .0
            .wait(guard)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        MutexGuard { mutex, guard }
    }

    pub(crate) fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        deadline: Instant,
    ) -> MutexGuard<'a, T> {
        if clock::never_comes(deadline) {
            return self.wait(guard);
        }
        let mutex = guard.mutex;
        drop(guard);
        shuttle::thread::yield_now();
        clock::pass(deadline);
        mutex.lock()
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Condvar::new()
    }
}

pub(crate) mod thread {
    pub(crate) use shuttle::thread::{JoinHandle, ThreadId, current, yield_now};

    pub(crate) fn spawn(
        name: String,
        f: impl FnOnce() + Send + 'static,
    ) -> super::io::Result<JoinHandle<()>> {
        let body = move || {
            super::clock::begin(&name);
            f();
        };
        Ok(shuttle::thread::spawn(body))
    }
}

pub(crate) mod hint {
    use std::time::Duration;

    /// Lets the other threads run. Moves the clock by 1 µs, so that a thread that spins for some
    /// time spins only a few times.
    pub(crate) fn spin_loop() {
        super::clock::pass(super::now() + Duration::from_micros(1));
        shuttle::hint::spin_loop();
    }
}

macro_rules! thread_local_const {
    ($(#[$meta:meta])* $vis:vis static $name:ident: $ty:ty = $init:expr) => {
        $(#[$meta])*
        $vis static $name: $crate::shim::LocalKey<$ty> = $crate::shim::LocalKey::new(|| $init);
    };
}
pub(crate) use thread_local_const;

macro_rules! run_static {
    (static $name:ident: $ty:ty = $init:expr;) => {
        static $name: $ty = $init;
    };
}
pub(crate) use run_static;

pub(crate) type RunLock<T> = StaticLock<T>;

pub(crate) const WATCHING_PAYS: bool = false;

pub(crate) fn seed() -> u64 {
    use shuttle::rand::RngCore;
    shuttle::rand::thread_rng().next_u64()
}

/// The lock of a process-wide store, which outlives every execution. It is modelled nevertheless,
/// since the lists under it consist of modelled words.
#[derive(Debug)]
pub(crate) struct StaticLock<T>(Lock<T>);

impl<T> StaticLock<T> {
    pub(crate) const fn new(value: T) -> Self {
        StaticLock(Lock::new(value))
    }

    pub(crate) fn lock(&self) -> LockGuard<'_, T> {
        self.0.lock()
    }
}

//! loom: it explores every atomic, lock and cell, including weak memory. One protocol at a time; no
//! clock, no real fibers.

use std::io;
use std::time::Instant;

#[cfg(not(all(pirn_modelled, pirn_parts)))]
compile_error!(
    "loom goes with `--cfg pirn_modelled --cfg pirn_parts`: `cargo xtask model`"
);

pub(crate) const MODELLED: bool = true;
pub(crate) const SMALL: bool = true;
pub(crate) const SEEDED: bool = false;

pub(crate) mod atomic {
    pub(crate) use loom::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

pub(crate) use loom::cell::{Cell, UnsafeCell};

/// The short lock; loom blocks instead of spinning.
#[derive(Debug)]
pub(crate) struct Lock<T> {
    lock: loom::sync::Mutex<T>,
    life: Life,
}

/// Makes loom report a lock that is acquired while, or after, its owner drops it.
#[derive(Debug)]
struct Life(UnsafeCell<()>);

// SAFETY: the cell is empty; loom checks the accesses to it.
unsafe impl Sync for Life {}

pub(crate) type LockGuard<'a, T> = loom::sync::MutexGuard<'a, T>;

impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Lock {
            lock: loom::sync::Mutex::new(value),
            life: Life(UnsafeCell::new(())),
        }
    }

    pub(crate) fn lock(&self) -> LockGuard<'_, T> {
        self.life.0.with(|_| ());
        self.lock
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Acquires the lock if it is free.
    pub(crate) fn try_lock(&self) -> Option<LockGuard<'_, T>> {
        self.lock.try_lock().ok()
    }

    /// As [`lock`](Lock::lock); the model supposes that the lock was always contended.
    pub(crate) fn lock_reporting_contention(&self) -> (LockGuard<'_, T>, bool) {
        (self.lock(), true)
    }

    /// Returns the value; the model acquires the lock all the same.
    ///
    /// # Safety
    /// No other thread can reach the lock while the result is used.
    pub(crate) unsafe fn unshared(&self) -> impl std::ops::DerefMut<Target = T> {
        self.lock()
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.lock
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn into_inner(self) -> T {
        self.lock
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.0.with_mut(|_| ());
        }
    }
}

impl<T: Default> Default for Lock<T> {
    fn default() -> Self {
        Lock::new(T::default())
    }
}

pub(crate) type Mutex<T> = Lock<T>;
pub(crate) type MutexGuard<'a, T> = LockGuard<'a, T>;

/// The condition variable that goes with [`Mutex`]; time does not pass under loom.
#[derive(Debug)]
pub(crate) struct Condvar(loom::sync::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Condvar(loom::sync::Condvar::new())
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0
            .wait(guard)
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _deadline: Instant,
    ) -> MutexGuard<'a, T> {
        self.wait(guard)
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
    pub(crate) use loom::thread::{JoinHandle, ThreadId, current, yield_now};

    pub(crate) fn spawn(
        _name: String,
        f: impl FnOnce() + Send + 'static,
    ) -> super::io::Result<JoinHandle<()>> {
        Ok(loom::thread::spawn(f))
    }
}

pub(crate) mod hint {
    pub(crate) use loom::hint::spin_loop;
}

/// Statics that are separate for each run of a model.
pub(crate) use loom::lazy_static;

macro_rules! run_static {
    (static $name:ident: $ty:ty = $init:expr;) => {
        $crate::shim::lazy_static! {
            static ref $name: $ty = $init;
        }
    };
}
pub(crate) use run_static;

pub(crate) type RunLock<T> = Lock<T>;

/// A word that may be in a static; one that is in a static is not accessed in a model.
#[derive(Debug)]
pub(crate) struct StaticU32(Option<atomic::AtomicU32>);

impl StaticU32 {
    pub(crate) const fn in_static(_value: u32) -> Self {
        StaticU32(None)
    }

    pub(crate) fn new(value: u32) -> Self {
        StaticU32(Some(atomic::AtomicU32::new(value)))
    }

    pub(crate) fn load(&self, order: atomic::Ordering) -> u32 {
        self.word().load(order)
    }

    pub(crate) fn fetch_or(&self, value: u32, order: atomic::Ordering) -> u32 {
        self.word().fetch_or(value, order)
    }

    pub(crate) fn fetch_and(&self, value: u32, order: atomic::Ordering) -> u32 {
        self.word().fetch_and(value, order)
    }

    fn word(&self) -> &atomic::AtomicU32 {
        self.0.as_ref().expect("not in a static")
    }
}

macro_rules! thread_local_const {
    ($(#[$meta:meta])* $vis:vis static $name:ident: $ty:ty = $init:expr) => {
        $(#[$meta])*
        $vis static $name: $crate::shim::LocalKey<$ty> = $crate::shim::LocalKey(
            ::loom::thread::LocalKey {
                init: || ::std::mem::ManuallyDrop::new($init),
                _p: ::std::marker::PhantomData,
            },
        );
    };
}
pub(crate) use thread_local_const;

/// A thread-local without a destructor: under loom all values of a thread become unreachable
/// together, and on the machine those without a destructor outlive the others.
pub(crate) struct LocalKey<T: 'static>(
    pub(crate) loom::thread::LocalKey<std::mem::ManuallyDrop<T>>,
);

impl<T: 'static> LocalKey<T> {
    pub(crate) fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.0.with(|value| f(value))
    }

    pub(crate) fn try_with<R>(
        &'static self,
        f: impl FnOnce(&T) -> R,
    ) -> Result<R, loom::thread::AccessError> {
        self.0.try_with(|value| f(value))
    }
}

/// A clock that never moves.
pub(crate) fn now() -> Instant {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    *START.get_or_init(Instant::now)
}

pub(crate) const WATCHING_PAYS: bool = false;

pub(crate) fn seed() -> u64 {
    1
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

//! shuttle: the whole runtime, real fibers included, under random and PCT schedules of
//! modelled threads. Sequentially consistent; the clock stands still.

use std::io;
use std::time::Instant;

pub(crate) mod atomic {
    pub(crate) use shuttle::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// A cell with loom's surface; shuttle explores schedules, not memory.
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
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The value; the model takes the lock all the same.
    ///
    /// # Safety
    /// Nobody else can reach the lock while the result is used.
    pub(crate) unsafe fn unshared(&self) -> impl std::ops::DerefMut<Target = T> {
        self.lock()
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl<T: Default> Default for Lock<T> {
    fn default() -> Self {
        Lock::new(T::default())
    }
}

pub(crate) type Mutex<T> = Lock<T>;
pub(crate) type MutexGuard<'a, T> = LockGuard<'a, T>;

/// The condition variable that goes with [`Mutex`]; time does not pass under shuttle.
#[derive(Debug)]
pub(crate) struct Condvar(shuttle::sync::Condvar);

impl Condvar {
    pub(crate) const fn new() -> Self {
        Condvar(shuttle::sync::Condvar::new())
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner)
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
    pub(crate) use shuttle::thread::{JoinHandle, yield_now};

    pub(crate) fn spawn(
        _name: String,
        f: impl FnOnce() + Send + 'static,
    ) -> super::io::Result<JoinHandle<()>> {
        Ok(shuttle::thread::spawn(f))
    }
}

pub(crate) mod hint {
    pub(crate) use shuttle::hint::spin_loop;
}

macro_rules! thread_local_const {
    ($(#[$meta:meta])* $vis:vis static $name:ident: $ty:ty = $init:expr) => {
        ::shuttle::thread_local! { $(#[$meta])* $vis static $name: $ty = $init }
    };
}
pub(crate) use thread_local_const;

/// A clock that never moves.
pub(crate) fn now() -> Instant {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    *START.get_or_init(Instant::now)
}

pub(crate) fn seed() -> u64 {
    1
}

/// The lock of a process-wide store. Never modelled: such stores outlive a model's run, and
/// nothing happens under this lock that a model could interleave.
#[derive(Debug)]
pub(crate) struct StaticLock<T>(std::sync::Mutex<T>);

impl<T> StaticLock<T> {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub(crate) const fn new(value: T) -> Self {
        StaticLock(std::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> std::sync::MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

//! Fiber-locals: values that belong to a fiber, or to a plain thread.
//!
//! Owns: the map in a fiber's header and the [`fiber_local!`](crate::fiber_local) keys. A
//! value is made at first use, lives as long as its fiber, and is dropped on that fiber's
//! stack, before the fiber counts as finished. Values are boxed one by one, so a reference
//! to one stays valid while others are added.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::ptr::NonNull;

use super::current;
use super::header::Header;
use crate::base::dropping::drop_caught;

/// All locals of one fiber: few, so a list beats a map.
pub(crate) struct Locals(Vec<(usize, Box<dyn Any>)>);

/// A key to one value for each fiber (and each plain thread).
///
/// Declared by [`fiber_local!`](crate::fiber_local). The surface is that of
/// [`std::thread::LocalKey`]. A value is made at first use and dropped, newest first, when its
/// fiber (or thread) ends; a panic of its destructor goes no further.
pub struct FiberLocal<T: 'static> {
    init: fn() -> T,
}

impl<T: 'static> FiberLocal<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        FiberLocal { init }
    }

    /// Calls `f` with the running fiber's value, which is made first if need be.
    ///
    /// # Panics
    /// If the initialiser or `f` does. An initialiser that panics is tried again at the
    /// next use.
    ///
    /// # Cancellation
    /// Not an interruption point; suspends only if the initialiser or `f` does.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        let key = std::ptr::from_ref(self).addr();
        let value = match find(key) {
            Some(value) => value,
            None => insert(key, Box::new((self.init)())),
        };
        // SAFETY: boxed, and dropped only when its fiber ends, after every frame of it.
        let value = unsafe { value.as_ref() };
        f(value.downcast_ref().expect("a key stands for one type"))
    }
}

impl<T: 'static> FiberLocal<Cell<T>> {
    /// Sets the running fiber's value; the first use makes it by the initialiser all the same.
    ///
    /// # Panics
    /// If the initialiser does, or the destructor of the old value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// A copy of the running fiber's value.
    ///
    /// # Panics
    /// If the initialiser does.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Takes the running fiber's value and leaves the default.
    ///
    /// # Panics
    /// If the initialiser does, or `T::default`.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }
}

impl<T: 'static> FiberLocal<RefCell<T>> {
    /// Calls `f` with the running fiber's value.
    ///
    /// # Panics
    /// If the value is mutably borrowed, or as [`with`](FiberLocal::with).
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Calls `f` with the running fiber's value, mutably.
    ///
    /// # Panics
    /// If the value is borrowed, or as [`with`](FiberLocal::with).
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }
}

impl<T> fmt::Debug for FiberLocal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FiberLocal").finish_non_exhaustive()
    }
}

/// The map of the running fiber, taken out of its header for the length of `f`, which runs
/// no user code.
fn map<R>(f: impl FnOnce(&mut Locals) -> R) -> R {
    let fiber = current::identity(current::local());
    // SAFETY: H1, H2: the running fiber owns its header.
    let header = unsafe { fiber.as_ref() };
    let mut locals = header
        .locals
        .get()
        .unwrap_or_else(|| NonNull::from(Box::leak(Box::new(Locals(Vec::new())))));
    header.locals.set(Some(locals));
    // SAFETY: made here and freed in `destroy` only; `f` cannot re-enter.
    f(unsafe { locals.as_mut() })
}

fn find(key: usize) -> Option<NonNull<dyn Any>> {
    map(|locals| {
        let found = locals.0.iter().find(|(held, _)| *held == key);
        found.map(|(_, value)| NonNull::from(&**value))
    })
}

fn insert(key: usize, value: Box<dyn Any>) -> NonNull<dyn Any> {
    map(|locals| {
        locals.0.push((key, value));
        NonNull::from(&*locals.0[locals.0.len() - 1].1)
    })
}

/// Drops all locals of a fiber that has ended, newest first; a destructor may make new
/// ones, which are dropped too. UNWIND: a panic in a destructor ends that destructor only.
#[inline]
pub(crate) fn destroy(header: &Header) {
    if header.locals.get().is_some() {
        destroy_all(header);
    }
}

#[cold]
fn destroy_all(header: &Header) {
    while let Some(locals) = header.locals.take() {
        // SAFETY: made by `Box::leak` in `map`; taken out of the header, so it is ours.
        let mut locals = unsafe { Box::from_raw(locals.as_ptr()) };
        while let Some((_, value)) = locals.0.pop() {
            drop_caught(value);
        }
    }
}

/// Declares fiber-local values, as [`std::thread_local!`] declares thread-local ones.
///
/// ```
/// use std::cell::Cell;
///
/// pirn::fiber_local! {
///     static DEPTH: Cell<u32> = Cell::new(0);
/// }
///
/// pirn::run(|| {
///     DEPTH.set(3);
///     pirn::spawn(|| assert_eq!(DEPTH.get(), 0)).join().unwrap();
///     assert_eq!(DEPTH.get(), 3);
/// });
/// ```
#[macro_export]
macro_rules! fiber_local {
    () => {};
    ($(#[$meta:meta])* $vis:vis static $name:ident: $ty:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$meta])*
        $vis static $name: $crate::FiberLocal<$ty> = {
            fn init() -> $ty {
                $init
            }
            $crate::FiberLocal::new(init)
        };
        $($crate::fiber_local!($($rest)*);)?
    };
}

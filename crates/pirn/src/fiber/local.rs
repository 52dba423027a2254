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

use super::current::{self, Local};
use super::header::{FiberPtr, Header};
use crate::base::dropping::drop_caught;

/// All locals of one fiber: few, so a list beats a map.
pub(crate) struct Locals(Vec<Entry>);

struct Entry {
    key: usize,
    value: Box<dyn Any>,
    /// Makes the value that a child of a scope begins with.
    inherit: Option<Inherit>,
    /// Goes when nothing of the user's runs on the fiber any more.
    lasting: bool,
}

type Inherit = fn(&dyn Any) -> Box<dyn Any>;

/// A key to one value for each fiber (and each plain thread).
///
/// Declared by [`fiber_local!`](crate::fiber_local). The surface is that of
/// [`std::thread::LocalKey`]. A value is made at first use and dropped, newest first, when its
/// fiber (or thread) ends; a panic of its destructor goes no further.
pub struct FiberLocal<T: 'static> {
    init: fn() -> T,
    inherit: Option<Inherit>,
    lasting: bool,
}

impl<T: 'static> FiberLocal<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        FiberLocal {
            init,
            inherit: None,
            lasting: false,
        }
    }

    /// A value that outlasts all others, and also what is dropped when the fiber ends: for the
    /// runtime's own.
    pub(crate) const fn lasting(init: fn() -> T) -> Self {
        FiberLocal {
            lasting: true,
            ..FiberLocal::new(init)
        }
    }

    #[doc(hidden)]
    pub const fn inherited(init: fn() -> T) -> Self
    where
        T: Clone + Send,
    {
        FiberLocal {
            init,
            inherit: Some(duplicate::<T>),
            lasting: false,
        }
    }

    /// Calls `f` with the running fiber's value, which is made first if need be.
    ///
    /// # Panics
    /// If the initializer or `f` does. An initializer that panics is tried again at the
    /// next use.
    ///
    /// # Cancellation
    /// Not an interruption point; suspends only if the initializer or `f` does.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        let key = std::ptr::from_ref(self).addr();
        let value = match find(key) {
            Some(value) => value,
            None => insert(Entry {
                key,
                value: Box::new((self.init)()),
                inherit: self.inherit,
                lasting: self.lasting,
            }),
        };
        // SAFETY: boxed, and dropped only when its fiber ends, after every frame of it.
        let value = unsafe { value.as_ref() };
        f(value.downcast_ref().expect("a key stands for one type"))
    }
}

impl<T: 'static> FiberLocal<Cell<T>> {
    /// Sets the running fiber's value; the first use makes it by the initializer all the same.
    ///
    /// # Panics
    /// If the initializer does, or the destructor of the old value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// A copy of the running fiber's value.
    ///
    /// # Panics
    /// If the initializer does.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Takes the running fiber's value and leaves the default.
    ///
    /// # Panics
    /// If the initializer does, or `T::default`.
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
        let found = locals.0.iter().find(|entry| entry.key == key);
        found.map(|entry| NonNull::from(&*entry.value))
    })
}

fn insert(entry: Entry) -> NonNull<dyn Any> {
    map(|locals| {
        locals.0.push(entry);
        NonNull::from(&*locals.0[locals.0.len() - 1].value)
    })
}

fn duplicate<T: Clone + Send + 'static>(value: &dyn Any) -> Box<dyn Any> {
    let value: &T = value.downcast_ref().expect("a key stands for one type");
    Box::new(value.clone())
}

/// What a child of a scope begins with.
pub(crate) struct Inheritance(Vec<Entry>);

impl Inheritance {
    /// Copies of what the running fiber has that is inherited. Nothing is allocated if it has
    /// nothing.
    ///
    /// # Panics
    /// If a clone does.
    #[inline]
    pub(crate) fn copy(local: &Local) -> Inheritance {
        // SAFETY: H1, H2: the caller's own header.
        let locals = current::known(local).map(|fiber| unsafe { fiber.as_ref() });
        match locals.filter(|header| header.locals.get().is_some()) {
            None => Inheritance::none(),
            Some(header) => Inheritance(copies(header)),
        }
    }

    /// As [`copy`](Inheritance::copy), of what `fiber` has, which is the caller or for which it acts.
    ///
    /// # Panics
    /// If a clone does.
    pub(crate) fn of(fiber: FiberPtr) -> Inheritance {
        // SAFETY: H1, H2: the caller's own header.
        Inheritance(copies(unsafe { fiber.as_ref() }))
    }

    pub(crate) fn none() -> Inheritance {
        Inheritance(Vec::new())
    }

    /// Gives them to `child`, which is not published yet and has none.
    ///
    /// # Safety
    /// H2: the child's header is the caller's.
    #[inline]
    pub(crate) unsafe fn give_to(self, child: FiberPtr) {
        if !self.0.is_empty() {
            let locals = NonNull::from(Box::leak(Box::new(Locals(self.0))));
            // SAFETY: H1; the caller's promise.
            unsafe { child.as_ref() }.locals.set(Some(locals));
        }
    }
}

#[cold]
fn copies(parent: &Header) -> Vec<Entry> {
    // One by one: a clone is the user's, and may add values itself.
    let mut copies = Vec::new();
    let mut next = 0;
    while let Some(locals) = parent.locals.get() {
        // SAFETY: made by `Box::leak` in `map`; borrowed for the length of this statement,
        // in which nothing of the user's runs.
        let entry = unsafe { locals.as_ref() }
            .0
            .get(next)
            .map(|entry| (entry.key, NonNull::from(&*entry.value), entry.inherit));
        let Some((key, value, inherit)) = entry else {
            break;
        };
        next += 1;
        if let Some(copy) = inherit {
            // SAFETY: boxed, and dropped only when its fiber ends, which is the caller.
            let value = copy(unsafe { value.as_ref() });
            copies.push(Entry {
                key,
                value,
                inherit,
                lasting: false,
            });
        }
    }
    copies
}

/// Drops all locals of a fiber that has ended, newest first, but for those that last; a
/// destructor may make new ones, which are dropped too. UNWIND: a panic in a destructor ends
/// that destructor only.
#[inline]
pub(crate) fn destroy(header: &Header) {
    if header.locals.get().is_some() {
        let lasting = destroy_own(header);
        if !lasting.is_empty() {
            let locals = NonNull::from(Box::leak(Box::new(Locals(lasting))));
            header.locals.set(Some(locals));
        }
    }
}

/// As [`destroy`], and then drops those that last, too.
#[inline]
pub(crate) fn destroy_all(header: &Header) {
    if header.locals.get().is_some() {
        let lasting = destroy_own(header);
        lasting
            .into_iter()
            .for_each(|entry| drop_caught(entry.value));
    }
}

/// Returns those that last.
#[cold]
fn destroy_own(header: &Header) -> Vec<Entry> {
    let mut lasting = Vec::new();
    while let Some(locals) = header.locals.take() {
        // SAFETY: made by `Box::leak` in `map`; taken out of the header, so it is ours.
        let mut locals = unsafe { Box::from_raw(locals.as_ptr()) };
        while let Some(entry) = locals.0.pop() {
            match entry.lasting {
                true => lasting.push(entry),
                false => drop_caught(entry.value),
            }
        }
    }
    lasting
}

/// Declares fiber-local values, as [`std::thread_local!`] declares thread-local ones.
///
/// A child of a scope begins without any, as every fiber. With `, inherit` behind its
/// initializer a value is cloned for each child that is spawned in a scope, by the fiber that
/// spawns it, if that one has the value; `T` is `Clone + Send` then. A panic of the clone goes
/// through the `spawn`.
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
    ($(#[$meta:meta])* $vis:vis static $name:ident: $ty:ty = $init:expr, inherit
        $(; $($rest:tt)*)?) => {
        $(#[$meta])*
        $vis static $name: $crate::FiberLocal<$ty> = {
            fn init() -> $ty {
                $init
            }
            $crate::FiberLocal::inherited(init)
        };
        $($crate::fiber_local!($($rest)*);)?
    };
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

//! Fiber-locals: values that belong to a fiber, or to a plain thread.

// Owns: the list in a fiber's header and the [`fiber_local!`](crate::fiber_local) keys. A value is
// created at its first use, lives as long as its fiber, and is dropped on that fiber's stack,
// before the fiber counts as finished (a lasting one after that). Values are boxed one by one, so
// a reference to one stays valid while others are added.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use super::values::{Entry, Inherit, Locals, NoCopy};
use crate::base::drop_guard::drop_caught;
use crate::fiber::current::{self, Local};
use crate::fiber::fiber_ptr::FiberPtr;
use crate::fiber::header::Header;
use crate::fiber::panic_payload::text_of;

/// A key to one value for each fiber (and each plain thread).
///
/// Declared by [`fiber_local!`](crate::fiber_local). The interface is that of
/// [`std::thread::LocalKey`]. A value is created at its first use and dropped, newest first, when
/// its fiber (or thread) ends; a panic of its destructor is caught. A destructor may use other
/// values, which are created again then. If destructors do so without an end, as one that uses its
/// own key, neither the fiber nor its join ends.
///
/// # Examples
/// ```
/// use pirn::FiberLocal;
///
/// pirn::fiber_local! {
///     static NAME: String = String::from("unknown");
/// }
///
/// fn len(local: &'static FiberLocal<String>) -> usize {
///     local.with(String::len)
/// }
///
/// assert_eq!(pirn::run(|| len(&NAME)), 7);
/// ```
#[doc(alias = "LocalKey")]
#[doc(alias = "task_local")]
#[doc(alias = "ThreadLocal")]
pub struct FiberLocal<T: 'static> {
    init: fn() -> T,
    inherit: Option<Inherit>,
    lasting: bool,
    /// A key stands for one type, so it is invariant in it.
    of: PhantomData<fn(T) -> T>,
}

impl<T: 'static> FiberLocal<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        FiberLocal {
            init,
            inherit: None,
            lasting: false,
            of: PhantomData,
        }
    }

    /// Creates a key of the runtime's own, with values that are dropped after all others of the
    /// fiber, when it runs no user code any more.
    pub(crate) const fn lasting(init: fn() -> T) -> Self {
        FiberLocal {
            lasting: true,
            ..FiberLocal::new(init)
        }
    }

    #[doc(hidden)]
    pub const fn inherited(init: fn() -> T, is_borrowed: fn(&dyn Any) -> bool) -> Self
    where
        T: Clone + Send,
    {
        FiberLocal {
            inherit: Some(Inherit {
                copy: duplicate::<T>,
                is_borrowed,
            }),
            ..FiberLocal::new(init)
        }
    }

    /// Calls `f` with the running fiber's value, which is created at its first use.
    ///
    /// # Panics
    /// If the initializer or `f` does. An initializer that panics is tried again at the
    /// next use. In a half of a [`join`](crate::par::join()) that became a fiber, if the value
    /// is inherited and could not be copied then.
    ///
    /// # Cancellation
    /// Not an interruption point; suspends only if the initializer or `f` does.
    ///
    /// # Examples
    /// ```
    /// pirn::fiber_local! {
    ///     static NAME: String = String::from("unknown");
    /// }
    ///
    /// assert_eq!(pirn::run(|| NAME.with(String::len)), 7);
    /// ```
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        let key = std::ptr::from_ref(self).addr();
        let value = match find(key) {
            Some(value) => value,
            None => {
                let entry = self.entry((self.init)());
                // The initializer may have used the key itself: the fiber has one value.
                find(key).unwrap_or_else(|| insert(entry))
            }
        };
        // SAFETY: boxed, and dropped only when its fiber or thread ends, after every frame of it.
        // Destructors of other values may get here then; each ends before the next value is dropped.
        let value = unsafe { value.as_ref() };
        f(value.downcast_ref().unwrap_or_else(|| refuse(value)))
    }

    /// Sets the value of `fiber`, which is not published yet and has none.
    pub(crate) fn give(&'static self, fiber: FiberPtr, value: T) {
        let entry = self.entry(value);
        // H2: the caller owns it.
        with_locals_of(fiber.header(), |locals| locals.0.push(entry));
    }

    fn entry(&'static self, value: T) -> Entry {
        Entry {
            key: std::ptr::from_ref(self).addr(),
            value: Box::new(value),
            inherit: self.inherit,
            lasting: self.lasting,
        }
    }
}

/// Panics: the running fiber uses a value of which it has no copy.
#[cold]
fn refuse(value: &dyn Any) -> ! {
    let NoCopy(why) = value.downcast_ref().expect("a key stands for one type");
    panic!(
        "a fiber-local was used by the half of a join that has no copy of it: when the half became a \
         fiber, {why}"
    )
}

impl<T: 'static> FiberLocal<Cell<T>> {
    /// Sets the running fiber's value. If there is none yet, the initializer creates one first.
    ///
    /// # Panics
    /// If the initializer does, or the destructor of the old value.
    ///
    /// # Cancellation
    /// Not an interruption point; suspends only if the initializer or the destructor does.
    ///
    /// # Examples
    /// ```
    /// use std::cell::Cell;
    ///
    /// pirn::fiber_local! {
    ///     static DEPTH: Cell<u32> = Cell::new(0);
    /// }
    ///
    /// pirn::run(|| {
    ///     DEPTH.set(3);
    ///     assert_eq!(DEPTH.get(), 3);
    /// });
    /// ```
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// Returns a copy of the running fiber's value.
    ///
    /// # Panics
    /// If the initializer does.
    ///
    /// # Cancellation
    /// Not an interruption point; suspends only if the initializer does.
    ///
    /// # Examples
    /// ```
    /// use std::cell::Cell;
    ///
    /// pirn::fiber_local! {
    ///     static DEPTH: Cell<u32> = Cell::new(1);
    /// }
    ///
    /// assert_eq!(pirn::run(|| DEPTH.get()), 1);
    /// ```
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
    ///
    /// # Cancellation
    /// Not an interruption point; suspends only if the initializer or `T::default` does.
    ///
    /// # Examples
    /// ```
    /// use std::cell::Cell;
    ///
    /// pirn::fiber_local! {
    ///     static WORDS: Cell<Vec<&'static str>> = Cell::new(vec!["one"]);
    /// }
    ///
    /// pirn::run(|| {
    ///     assert_eq!(WORDS.take(), ["one"]);
    ///     assert!(WORDS.take().is_empty());
    /// });
    /// ```
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
    ///
    /// # Cancellation
    /// Not an interruption point; suspends only if the initializer or `f` does.
    ///
    /// # Examples
    /// ```
    /// use std::cell::RefCell;
    ///
    /// pirn::fiber_local! {
    ///     static WORDS: RefCell<Vec<&'static str>> = RefCell::new(vec!["one"]);
    /// }
    ///
    /// assert_eq!(pirn::run(|| WORDS.with_borrow(|words| words.join(" "))), "one");
    /// ```
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Calls `f` with the running fiber's value, mutably.
    ///
    /// # Panics
    /// If the value is borrowed, or as [`with`](FiberLocal::with).
    ///
    /// # Cancellation
    /// Not an interruption point; suspends only if the initializer or `f` does.
    ///
    /// # Examples
    /// ```
    /// use std::cell::RefCell;
    ///
    /// pirn::fiber_local! {
    ///     static WORDS: RefCell<Vec<&'static str>> = RefCell::new(Vec::new());
    /// }
    ///
    /// pirn::run(|| {
    ///     WORDS.with_borrow_mut(|words| words.push("one"));
    ///     assert_eq!(WORDS.with_borrow(|words| words.len()), 1);
    /// });
    /// ```
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }
}

impl<T> fmt::Debug for FiberLocal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FiberLocal").finish_non_exhaustive()
    }
}

/// Calls `f` with the locals of the running fiber or plain thread, which stay in its header. `f`
/// runs no user code, so it cannot re-enter.
fn with_locals<R>(f: impl FnOnce(&mut Locals) -> R) -> R {
    let fiber = current::identity(current::local());
    // H2: the running fiber owns its header.
    with_locals_of(fiber.header(), f)
}

/// As [`with_locals`], with those of the header's fiber, which is the caller's (H2).
fn with_locals_of<R>(header: &Header, f: impl FnOnce(&mut Locals) -> R) -> R {
    let mut locals = header
        .locals()
        .unwrap_or_else(|| NonNull::from(Box::leak(Box::new(Locals(Vec::new())))));
    header.set_locals(Some(locals));
    // SAFETY: leaked here or by `give_to`, and freed by `destroy` only; `f` cannot re-enter.
    f(unsafe { locals.as_mut() })
}

fn find(key: usize) -> Option<NonNull<dyn Any>> {
    with_locals(|locals| {
        let found = locals.0.iter().find(|entry| entry.key == key);
        found.map(|entry| NonNull::from(&*entry.value))
    })
}

fn insert(entry: Entry) -> NonNull<dyn Any> {
    with_locals(|locals| {
        locals.0.push(entry);
        NonNull::from(&*locals.0[locals.0.len() - 1].value)
    })
}

/// Selects the `IS_BORROWED` of a type, for [`fiber_local!`](crate::fiber_local): `RefCell` has a
/// constant of its own, every other type has that of [`IsBorrowed`].
#[doc(hidden)]
#[derive(Debug)]
pub struct Borrows<T>(PhantomData<T>);

#[doc(hidden)]
pub trait IsBorrowed {
    const IS_BORROWED: fn(&dyn Any) -> bool = |_| false;
}

impl<T> IsBorrowed for Borrows<T> {}

impl<T: 'static> Borrows<RefCell<T>> {
    #[doc(hidden)]
    pub const IS_BORROWED: fn(&dyn Any) -> bool = |value| {
        let cell = value.downcast_ref::<RefCell<T>>();
        cell.is_some_and(|cell| cell.try_borrow().is_err())
    };
}

fn duplicate<T: Clone + Send + 'static>(value: &dyn Any) -> Box<dyn Any> {
    let value: &T = value.downcast_ref().expect("a key stands for one type");
    Box::new(value.clone())
}

/// The initial values of a child of a scope, or of the half of a join that becomes a fiber.
pub(crate) struct Inheritance(Option<Box<Locals>>);

impl Inheritance {
    /// Copies the running fiber's inherited values. Allocates nothing if there are none.
    ///
    /// # Panics
    /// If a clone does.
    #[inline]
    pub(crate) fn copy(local: &Local) -> Inheritance {
        match local.fiber() {
            // H2: the caller's own header.
            Some(fiber) if !fiber.header().has_locals() => Inheritance::none(),
            Some(fiber) => Inheritance::from(fiber, copy),
            None => current::known(local)
                .map_or_else(Inheritance::none, |thread| Inheritance::from(thread, copy)),
        }
    }

    /// As [`copy`](Inheritance::copy), for the caller. Also returns the record of the thread on
    /// which the caller runs after that: a user's clone may suspend.
    ///
    /// # Panics
    /// As [`copy`](Inheritance::copy).
    #[inline]
    pub(crate) fn copy_here() -> (Inheritance, &'static Local) {
        let local = current::local();
        match local.fiber() {
            // H2: the caller's own header.
            Some(fiber) if !fiber.header().has_locals() => (Inheritance::none(), local),
            _ => Inheritance::copy_values(local),
        }
    }

    #[cold]
    fn copy_values(local: &Local) -> (Inheritance, &'static Local) {
        let inherited = Inheritance::copy(local);
        (inherited, current::local())
    }

    /// As [`copy`](Inheritance::copy), of the values of `fiber`: the caller, or the fiber for which
    /// it acts. If a clone panics, the child has no value, and its use panics. Does not unwind.
    pub(crate) fn of(fiber: FiberPtr) -> Inheritance {
        Inheritance::from(fiber, copy_if_possible)
    }

    #[cold]
    fn from(fiber: FiberPtr, copy: fn(Inherit, &dyn Any) -> Box<dyn Any>) -> Inheritance {
        // H2: the caller's own header.
        let copies = copies(fiber.header(), copy);
        Inheritance((!copies.is_empty()).then(|| Box::new(Locals(copies))))
    }

    pub(crate) fn none() -> Inheritance {
        Inheritance(None)
    }

    /// Gives the values to `child`, which is not published yet and has none.
    ///
    /// # Safety
    /// H2: the child's header is the caller's.
    #[inline]
    pub(crate) unsafe fn give_to(self, child: FiberPtr) {
        if let Some(locals) = self.0 {
            let locals = NonNull::from(Box::leak(locals));
            // H2: the caller owns `child`.
            child.header().set_locals(Some(locals));
        }
    }
}

/// Returns a copy of `value` for a child that is spawned.
fn copy(inherit: Inherit, value: &dyn Any) -> Box<dyn Any> {
    match value.is::<NoCopy>() {
        false => (inherit.copy)(value),
        // As the clone of a borrowed value would, if this half ran at its join.
        true => refuse(value),
    }
}

/// Returns a copy of `value`, or the reason why there is none. A borrowed `RefCell` is not cloned:
/// the panic hook would report it.
fn copy_if_possible(inherit: Inherit, value: &dyn Any) -> Box<dyn Any> {
    let why = if let Some(NoCopy(why)) = value.downcast_ref() {
        why.clone()
    } else if (inherit.is_borrowed)(value) {
        "it was mutably borrowed".to_owned()
    } else {
        match catch_unwind(AssertUnwindSafe(|| (inherit.copy)(value))) {
            Ok(copy) => return copy,
            Err(panic) => {
                let why = match text_of(&*panic) {
                    Some(text) => format!("its clone panicked: {text}"),
                    None => "its clone panicked".to_owned(),
                };
                drop_caught(panic);
                why
            }
        }
    };
    Box::new(NoCopy(why))
}

#[cold]
fn copies(
    parent: &Header,
    copy: impl Fn(Inherit, &dyn Any) -> Box<dyn Any>,
) -> Vec<Entry> {
    // One by one: a clone is user code, and may add values itself.
    let mut copies = Vec::new();
    let mut next = 0;
    while let Some(locals) = parent.locals() {
        // SAFETY: created by `Box::leak` (see `with_locals`); borrowed for the length of this
        // statement, in which no user code runs.
        let entry = unsafe { locals.as_ref() }
            .0
            .get(next)
            .map(|entry| (entry.key, NonNull::from(&*entry.value), entry.inherit));
        let Some((key, value, inherit)) = entry else {
            break;
        };
        next += 1;
        let Some(how) = inherit else { continue };
        // SAFETY: boxed, and dropped only when its fiber ends, which is the caller.
        let value = unsafe { value.as_ref() };
        let value = copy(how, value);
        copies.push(Entry {
            key,
            value,
            inherit,
            lasting: false,
        });
    }
    copies
}

/// Declares fiber-local values, as [`std::thread_local!`] declares thread-local ones.
///
/// A child of a scope begins without values, like every fiber. With `, inherit` after its
/// initializer, a value is cloned for each child that is spawned in a scope, by the fiber that
/// spawns it, if that one has the value; `T` must be `Clone + Send` then. A panic of the clone
/// unwinds through the `spawn`.
///
/// The second half of a [`join`](crate::par::join()) uses the caller's values, unless it becomes a
/// fiber; then it begins with clones, made at that time. If a clone panics, or the value is a
/// `RefCell` that is mutably borrowed, that fiber has no value, and panics if it uses it. So inside
/// `with_borrow_mut` both halves run, and one that uses the borrowed value panics, whether it
/// becomes a fiber or not.
///
/// # Examples
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
#[doc(alias = "task_local")]
#[doc(alias = "thread_local")]
#[macro_export]
macro_rules! fiber_local {
    () => {};
    ($(#[$meta:meta])* $vis:vis static $name:ident: $ty:ty = $init:expr, inherit
        $(; $($rest:tt)*)?) => {
        $(#[$meta])*
        $vis static $name: $crate::FiberLocal<$ty> = {
            // `$init` sees this name: it is not one that the caller uses.
            fn __pirn_init() -> $ty {
                $init
            }
            #[allow(unused_imports)]
            use $crate::__IsBorrowed as _;
            $crate::FiberLocal::inherited(__pirn_init, <$crate::__Borrows<$ty>>::IS_BORROWED)
        };
        $($crate::fiber_local!($($rest)*);)?
    };
    ($(#[$meta:meta])* $vis:vis static $name:ident: $ty:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$meta])*
        $vis static $name: $crate::FiberLocal<$ty> = {
            fn __pirn_init() -> $ty {
                $init
            }
            $crate::FiberLocal::new(__pirn_init)
        };
        $($crate::fiber_local!($($rest)*);)?
    };
}

//! Thread-locals of modelled threads with the properties of real ones that the library needs: a
//! value without a destructor can be accessed while the thread's other values are destroyed.
//! (shuttle destroys its own in the order of their creation, and they are gone then.)
//!
//! The values of all threads are in one map of the one OS thread that shuttle runs on. A guard in
//! shuttle's own thread-local storage detects the end of a thread.
//!
//! Invariants:
//! * V1. An entry's pointer came from `Box::into_raw` of the type that its key stands for, and
//!   is freed when the entry is taken out of the map, by the thread it belongs to.

use std::cell::RefCell;
use std::collections::BTreeMap;

use shuttle::current::{TaskId, me};
use shuttle::thread::AccessError;

/// A key to one value for each modelled thread.
pub(crate) struct LocalKey<T: 'static> {
    init: fn() -> T,
}

/// One value of one thread.
struct Value {
    pointer: *mut (),
    /// The caller passes `pointer`, once.
    drop: unsafe fn(*mut ()),
    /// Freed after those that have a destructor.
    is_last: bool,
}

/// By thread, then in the order in which keys lie in memory.
type Values = BTreeMap<(TaskId, usize), Value>;

std::thread_local! {
    static VALUES: RefCell<Values> = const { RefCell::new(Values::new()) };
}

shuttle::thread_local! {
    static END: End = End
}

/// Frees its thread's values when dropped.
struct End;

impl<T: 'static> LocalKey<T> {
    pub(crate) const fn new(init: fn() -> T) -> Self {
        LocalKey { init }
    }

    /// Calls `f` with the running thread's value, which is created at its first use.
    pub(crate) fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.try_with(f)
            .expect("a thread-local is used after its destruction")
    }

    /// As [`with`](LocalKey::with).
    ///
    /// # Errors
    /// If the value has been destroyed.
    pub(crate) fn try_with<R>(
        &'static self,
        f: impl FnOnce(&T) -> R,
    ) -> Result<R, AccessError> {
        let key = (me(), std::ptr::from_ref(self).addr());
        let known =
            VALUES.with_borrow(|values| values.get(&key).map(|value| value.pointer));
        let pointer = match known {
            Some(pointer) => pointer,
            None => self.make(key)?,
        };
        // SAFETY: V1: the key is a static, so its address stands for one type. The entry is there,
        // and only this thread takes it out, at its end, when no such call is left.
        Ok(f(unsafe { &*pointer.cast::<T>() }))
    }

    fn make(&'static self, key: (TaskId, usize)) -> Result<*mut (), AccessError> {
        END.try_with(|_| ())?;
        let pointer = Box::into_raw(Box::new((self.init)())).cast();
        let is_last = !std::mem::needs_drop::<T>();
        let value = Value {
            pointer,
            drop: free::<T>,
            is_last,
        };
        VALUES.with_borrow_mut(|values| values.insert(key, value));
        Ok(pointer)
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let thread = me();
        for last in [false, true] {
            while let Some(value) = take(thread, last) {
                // SAFETY: V1: taken out of the map.
                unsafe { (value.drop)(value.pointer) };
            }
        }
    }
}

/// Removes one value of `thread` from the map: of those with a destructor, or of the others.
fn take(thread: TaskId, last: bool) -> Option<Value> {
    VALUES.with_borrow_mut(|values| {
        let mut own = values.range((thread, 0)..=(thread, usize::MAX));
        let key = *own.find(|(_, value)| value.is_last == last)?.0;
        values.remove(&key)
    })
}

/// # Safety
/// V1: `pointer` came from `Box::into_raw` of a `T` and is not used again.
unsafe fn free<T>(pointer: *mut ()) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(pointer.cast::<T>()) });
}

//! A value and its turns; the value is reached only through guards.
//!
//! Owns: the value, and the guards that stand for turns. Does not own: the order of turns (`turns`,
//! `shared_turns`), nor the public locks (`mutex`, `rwlock`).
//!
//! # Invariants
//! * GD1. An [`Exclusive`] exists iff its owner has the turn to write, a [`Shared`] iff its owner
//!   has a turn to read. By TN1 and RT1 an `Exclusive` is alone. The value is reached only through
//!   a guard (or through `&mut Guarded`), and written only through an `Exclusive`.
//! * GD2. The `value` of a guard points to the value that its `turns` protect, or to a part that a
//!   closure has borrowed from it. Both stay valid and in place while the guard exists.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::{self, NonNull};

use super::holder::{FREE, number};
use super::shared_turns::{Kind, SharedTurns};
use super::turns::Turns;
use crate::fiber::current::{self, Local};
use crate::shim::Lock;
use crate::wait::{How, Spec};

/// An order of turns.
///
/// # Safety
/// A turn to write excludes all other turns, from the call that takes it to the call that frees it.
pub(super) unsafe trait Grant {
    /// Takes a turn, waiting as `spec` says.
    ///
    /// # Errors
    /// `TimedOut` or `Interrupted`, if the wait ended without a turn.
    #[track_caller]
    fn take(&self, local: &Local, kind: Kind, spec: &Spec) -> Result<(), How>;

    /// Takes a turn if that is possible without waiting; returns true if so.
    fn try_take(&self, kind: Kind) -> bool;

    /// Ends a turn, which is the caller's. Never suspends.
    fn free(&self, kind: Kind);

    /// Returns true if a turn is out that excludes one of `kind`.
    fn is_taken(&self, kind: Kind) -> bool;

    /// Returns the address by which reports find the lock.
    fn address(&self) -> usize;
}

// SAFETY: TN1: there is one turn at a time, whatever it is for.
unsafe impl Grant for Turns {
    #[inline(always)]
    #[track_caller]
    fn take(&self, local: &Local, _: Kind, spec: &Spec) -> Result<(), How> {
        Turns::take(self, local, spec)
    }

    #[inline(always)]
    fn try_take(&self, _: Kind) -> bool {
        Turns::try_take(self)
    }

    #[inline(always)]
    fn free(&self, _: Kind) {
        Turns::free(self);
    }

    fn is_taken(&self, _: Kind) -> bool {
        self.is_held()
    }

    fn address(&self) -> usize {
        Turns::address(self)
    }
}

// SAFETY: RT1.
unsafe impl Grant for Lock<SharedTurns> {
    #[inline(always)]
    #[track_caller]
    fn take(&self, local: &Local, kind: Kind, spec: &Spec) -> Result<(), How> {
        SharedTurns::take(local, self, kind, spec)
    }

    #[inline(always)]
    fn try_take(&self, kind: Kind) -> bool {
        let caller = match kind {
            Kind::Read => FREE,
            Kind::Write => number(current::local()),
        };
        self.lock().try_take(kind, caller)
    }

    #[inline(always)]
    fn free(&self, kind: Kind) {
        SharedTurns::free(self, kind);
    }

    fn is_taken(&self, kind: Kind) -> bool {
        self.lock().is_taken(kind)
    }

    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }
}

/// A value, and the turns `G` to access it.
pub(super) struct Guarded<G, T: ?Sized> {
    turns: G,
    // Not the shim's cell, which cannot hold unsized values.
    value: UnsafeCell<T>,
}

// SAFETY: GD1: one thread at a time reaches the value, so sharing the lock only ever moves the
// value from one thread to another. The turns are `Sync`.
unsafe impl<T: ?Sized + Send> Sync for Guarded<Turns, T> {}
// SAFETY: GD1: the value is written by one thread at a time, which `T: Send` allows, and read by
// several, which `T: Sync` allows. The turns are `Sync`.
unsafe impl<T: ?Sized + Send + Sync> Sync for Guarded<Lock<SharedTurns>, T> {}

// As the locks of `std`. There is no poisoning: the next holder finds the value as a panic left it.
impl<G, T: ?Sized> UnwindSafe for Guarded<G, T> {}
impl<G, T: ?Sized> RefUnwindSafe for Guarded<G, T> {}
impl<G: Grant, T: ?Sized> UnwindSafe for Exclusive<'_, G, T> {}
impl<G: Grant, T: ?Sized> RefUnwindSafe for Exclusive<'_, G, T> {}
impl<G: Grant, T: ?Sized> UnwindSafe for Shared<'_, G, T> {}
impl<G: Grant, T: ?Sized> RefUnwindSafe for Shared<'_, G, T> {}

/// Makes a guard not `Send`: code between lock and unlock may rely on staying on one fiber.
/// Compiler errors about a sent guard name this type.
struct StaysOnItsFiber(PhantomData<*const ()>);

/// The pointer of a guard to its value (GD2).
struct ValuePtr<T: ?Sized>(NonNull<T>);

impl<T: ?Sized> Clone for ValuePtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for ValuePtr<T> {}

// SAFETY: it reaches nothing by itself: a guard does, which is not `Send`.
unsafe impl<T: ?Sized + Send> Send for ValuePtr<T> {}

/// The turn to write. Dropping it ends the turn.
pub(super) struct Exclusive<'a, G: Grant, T: ?Sized> {
    _stays: StaysOnItsFiber,
    turns: &'a G,
    value: ValuePtr<T>,
    /// Makes the guard invariant in `T`: one of `&'static str` that became one of `&'a str` could
    /// store a value that does not live long enough.
    writes: PhantomData<&'a mut T>,
}

/// A turn to read. Dropping it ends the turn.
pub(super) struct Shared<'a, G: Grant, T: ?Sized> {
    _stays: StaysOnItsFiber,
    turns: &'a G,
    value: ValuePtr<T>,
    reads: PhantomData<&'a T>,
}

/// An [`Exclusive`] without its turn, which can be taken again.
pub(super) struct Released<'a, G: Grant, T: ?Sized> {
    turns: &'a G,
    value: ValuePtr<T>,
    writes: PhantomData<&'a mut T>,
}

// SAFETY: sharing a guard shares the value, which `T: Sync` allows.
unsafe impl<G: Grant, T: ?Sized + Sync> Sync for Exclusive<'_, G, T> {}
// SAFETY: as above.
unsafe impl<G: Grant, T: ?Sized + Sync> Sync for Shared<'_, G, T> {}

impl<G, T> Guarded<G, T> {
    pub(super) const fn new(turns: G, value: T) -> Self {
        Guarded {
            turns,
            value: UnsafeCell::new(value),
        }
    }

    pub(super) fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<G: Grant, T: ?Sized> Guarded<G, T> {
    /// Takes the turn to write, waiting as `spec` says.
    ///
    /// # Errors
    /// `TimedOut` or `Interrupted`, if the wait ended without a turn.
    #[inline]
    #[track_caller]
    pub(super) fn exclusive(
        &self,
        local: &Local,
        spec: &Spec,
    ) -> Result<Exclusive<'_, G, T>, How> {
        self.turns.take(local, Kind::Write, spec)?;
        Ok(Exclusive::new(&self.turns, self.pointer()))
    }

    /// As [`exclusive`](Self::exclusive), without waiting.
    #[inline]
    pub(super) fn try_exclusive(&self) -> Option<Exclusive<'_, G, T>> {
        let taken = self.turns.try_take(Kind::Write);
        taken.then(|| Exclusive::new(&self.turns, self.pointer()))
    }

    /// Takes a turn to read, waiting as `spec` says.
    ///
    /// # Errors
    /// As [`exclusive`](Self::exclusive).
    #[inline]
    #[track_caller]
    pub(super) fn shared(
        &self,
        local: &Local,
        spec: &Spec,
    ) -> Result<Shared<'_, G, T>, How> {
        self.turns.take(local, Kind::Read, spec)?;
        Ok(Shared::new(&self.turns, self.pointer()))
    }

    /// As [`shared`](Self::shared), without waiting.
    #[inline]
    pub(super) fn try_shared(&self) -> Option<Shared<'_, G, T>> {
        let taken = self.turns.try_take(Kind::Read);
        taken.then(|| Shared::new(&self.turns, self.pointer()))
    }

    pub(super) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Returns true if a turn is out that excludes one of `kind`.
    pub(super) fn is_taken(&self, kind: Kind) -> bool {
        self.turns.is_taken(kind)
    }

    /// Returns the address by which reports find the lock.
    pub(super) fn address(&self) -> usize {
        self.turns.address()
    }

    #[inline(always)]
    fn pointer(&self) -> ValuePtr<T> {
        // SAFETY: the address of a cell is not null.
        ValuePtr(unsafe { NonNull::new_unchecked(self.value.get()) })
    }
}

impl<T: ?Sized> Guarded<Lock<SharedTurns>, T> {
    /// Converts a turn to read into the turn to write, as soon as no other turn is out. No other
    /// party writes in between. One caller at a time may do so (RT4).
    #[track_caller]
    pub(super) fn upgrade<'a>(
        &'a self,
        turn: Shared<'a, Lock<SharedTurns>, T>,
        local: &Local,
        spec: &Spec,
    ) -> Exclusive<'a, Lock<SharedTurns>, T> {
        SharedTurns::upgrade(local, &self.turns, spec);
        self.upgraded(turn)
    }

    /// As [`upgrade`](Self::upgrade), without waiting; returns the turn if there are others.
    pub(super) fn try_upgrade<'a>(
        &'a self,
        turn: Shared<'a, Lock<SharedTurns>, T>,
    ) -> Result<Exclusive<'a, Lock<SharedTurns>, T>, Shared<'a, Lock<SharedTurns>, T>>
    {
        if SharedTurns::try_upgrade(&self.turns) {
            Ok(self.upgraded(turn))
        } else {
            Err(turn)
        }
    }

    /// Returns a write guard for the turn that `turn` had, which is the turn to write now. Its
    /// pointer comes from the cell: that of a read guard must not be used for writes.
    fn upgraded<'a>(
        &'a self,
        turn: Shared<'a, Lock<SharedTurns>, T>,
    ) -> Exclusive<'a, Lock<SharedTurns>, T> {
        debug_assert!(ptr::eq(turn.turns, &raw const self.turns), "another lock");
        let _ = ManuallyDrop::new(turn);
        Exclusive::new(&self.turns, self.pointer())
    }
}

impl<'a, G: Grant, T: ?Sized> Exclusive<'a, G, T> {
    /// Returns a guard for the caller, which has the turn to write (GD1). `value` is as in GD2.
    #[inline(always)]
    fn new(turns: &'a G, value: ValuePtr<T>) -> Self {
        Exclusive {
            _stays: StaysOnItsFiber(PhantomData),
            turns,
            value,
            writes: PhantomData,
        }
    }

    /// Ends the turn.
    #[inline]
    pub(super) fn release(self) -> Released<'a, G, T> {
        Released {
            turns: self.turns,
            value: self.value,
            writes: PhantomData,
        }
    }

    /// Converts the guard to one of the part that `f` returns. The turn ends if `f` panics.
    pub(super) fn map<U: ?Sized>(
        mut self,
        f: impl FnOnce(&mut T) -> &mut U,
    ) -> Exclusive<'a, G, U> {
        let part = ValuePtr(f(&mut self).into());
        // The turn passes to the new guard.
        Exclusive::new(ManuallyDrop::new(self).turns, part)
    }

    /// As [`map`](Self::map), if `f` returns a part.
    ///
    /// # Errors
    /// The guard, if `f` returns `None`.
    pub(super) fn part<U: ?Sized>(
        mut self,
        f: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<Exclusive<'a, G, U>, Self> {
        match f(&mut self).map(|part| ValuePtr(part.into())) {
            // The turn passes to the new guard.
            Some(part) => Ok(Exclusive::new(ManuallyDrop::new(self).turns, part)),
            None => Err(self),
        }
    }

    /// Returns the address by which reports find the lock.
    pub(super) fn address(&self) -> usize {
        self.turns.address()
    }
}

impl<'a, G: Grant, T: ?Sized> Released<'a, G, T> {
    /// Returns the address by which reports find the lock.
    pub(super) fn address(&self) -> usize {
        self.turns.address()
    }

    /// Takes the turn again, as [`Guarded::exclusive`] does.
    ///
    /// # Errors
    /// `TimedOut` or `Interrupted`, if the wait ended without a turn.
    #[inline]
    #[track_caller]
    pub(super) fn exclusive(
        self,
        local: &Local,
        spec: &Spec,
    ) -> Result<Exclusive<'a, G, T>, How> {
        self.turns.take(local, Kind::Write, spec)?;
        Ok(Exclusive::new(self.turns, self.value))
    }
}

impl<'a, T: ?Sized> Exclusive<'a, Lock<SharedTurns>, T> {
    /// Converts the turn into a turn to read, without ending it in between.
    pub(super) fn downgrade(self) -> Shared<'a, Lock<SharedTurns>, T> {
        // The turn passes to the new guard.
        let old = ManuallyDrop::new(self);
        SharedTurns::downgrade(old.turns);
        Shared::new(old.turns, old.value)
    }
}

impl<'a, G: Grant, T: ?Sized> Shared<'a, G, T> {
    /// Returns a guard for the caller, which has a turn to read (GD1). `value` is as in GD2.
    #[inline(always)]
    fn new(turns: &'a G, value: ValuePtr<T>) -> Self {
        Shared {
            _stays: StaysOnItsFiber(PhantomData),
            turns,
            value,
            reads: PhantomData,
        }
    }

    /// As [`Exclusive::map`].
    pub(super) fn map<U: ?Sized>(self, f: impl FnOnce(&T) -> &U) -> Shared<'a, G, U> {
        let part = ValuePtr(f(&self).into());
        // The turn passes to the new guard.
        Shared::new(ManuallyDrop::new(self).turns, part)
    }

    /// As [`Exclusive::part`].
    pub(super) fn part<U: ?Sized>(
        self,
        f: impl FnOnce(&T) -> Option<&U>,
    ) -> Result<Shared<'a, G, U>, Self> {
        match f(&self).map(|part| ValuePtr(part.into())) {
            // The turn passes to the new guard.
            Some(part) => Ok(Shared::new(ManuallyDrop::new(self).turns, part)),
            None => Err(self),
        }
    }
}

impl<G: Grant, T: ?Sized> Deref for Exclusive<'_, G, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: GD1, GD2: this guard is the only way to the value.
        unsafe { self.value.0.as_ref() }
    }
}

impl<G: Grant, T: ?Sized> DerefMut for Exclusive<'_, G, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: GD1, GD2: this guard is the only way to the value.
        unsafe { self.value.0.as_mut() }
    }
}

impl<G: Grant, T: ?Sized> Deref for Shared<'_, G, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: GD1, GD2: no party writes while this guard exists.
        unsafe { self.value.0.as_ref() }
    }
}

impl<G: Grant, T: ?Sized> Drop for Exclusive<'_, G, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.turns.free(Kind::Write);
    }
}

impl<G: Grant, T: ?Sized> Drop for Shared<'_, G, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.turns.free(Kind::Read);
    }
}

//! A value behind turns, and the guards through which alone it is reached.
//!
//! Owns: the value, and the guards that stand for turns. Does not own: the order of turns (`turns`,
//! `shared_turns`), nor the public locks (`mutex`, `rwlock`).
//!
//! # Invariants
//! * GD1. An [`Exclusive`] exists iff its owner has the turn to write, a [`Shared`] iff its owner
//!   has a turn to read. By TN1 and RT1 an `Exclusive` is alone. The value is reached only through
//!   a guard (or through `&mut Guarded`), and written only through an `Exclusive`.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr;

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
    /// How else the wait ended: `TimedOut` or `Interrupted`.
    #[track_caller]
    fn take(&self, local: &Local, kind: Kind, spec: &Spec) -> Result<(), How>;

    /// Takes a turn if that is possible without waiting; returns true if so.
    fn try_take(&self, kind: Kind) -> bool;

    /// Ends a turn, which is the caller's. Never suspends.
    fn free(&self, kind: Kind);

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

/// The turn to write. Dropping it ends the turn.
pub(super) struct Exclusive<'a, G: Grant, T: ?Sized> {
    of: &'a Guarded<G, T>,
    /// Not `Send`: code between lock and unlock may rely on staying on one fiber.
    stays: PhantomData<*const ()>,
}

/// A turn to read. Dropping it ends the turn.
pub(super) struct Shared<'a, G: Grant, T: ?Sized> {
    of: &'a Guarded<G, T>,
    /// As in [`Exclusive`].
    stays: PhantomData<*const ()>,
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
    /// How else the wait ended: `TimedOut` or `Interrupted`.
    #[inline]
    #[track_caller]
    pub(super) fn exclusive(
        &self,
        local: &Local,
        spec: &Spec,
    ) -> Result<Exclusive<'_, G, T>, How> {
        self.turns.take(local, Kind::Write, spec)?;
        Ok(Exclusive::new(self))
    }

    /// As [`exclusive`](Self::exclusive), without waiting.
    #[inline]
    pub(super) fn try_exclusive(&self) -> Option<Exclusive<'_, G, T>> {
        let taken = self.turns.try_take(Kind::Write);
        taken.then(|| Exclusive::new(self))
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
        Ok(Shared::new(self))
    }

    /// As [`shared`](Self::shared), without waiting.
    #[inline]
    pub(super) fn try_shared(&self) -> Option<Shared<'_, G, T>> {
        let taken = self.turns.try_take(Kind::Read);
        taken.then(|| Shared::new(self))
    }

    pub(super) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Returns the address by which reports find the lock.
    pub(super) fn address(&self) -> usize {
        self.turns.address()
    }
}

impl<'a, G: Grant, T: ?Sized> Exclusive<'a, G, T> {
    /// Returns the guard of the caller, which has the turn.
    #[inline(always)]
    fn new(of: &'a Guarded<G, T>) -> Self {
        Exclusive {
            of,
            stays: PhantomData,
        }
    }

    /// Ends the turn, and returns what it was for.
    #[inline]
    pub(super) fn release(self) -> &'a Guarded<G, T> {
        self.of
    }
}

impl<'a, T: ?Sized> Exclusive<'a, Lock<SharedTurns>, T> {
    /// Converts the turn into a turn to read, without ending it in between.
    pub(super) fn downgrade(self) -> Shared<'a, Lock<SharedTurns>, T> {
        // The turn passes to the new guard.
        let of = ManuallyDrop::new(self).of;
        SharedTurns::downgrade(&of.turns);
        Shared::new(of)
    }
}

impl<'a, G: Grant, T: ?Sized> Shared<'a, G, T> {
    /// Returns the guard of the caller, which has a turn.
    #[inline(always)]
    fn new(of: &'a Guarded<G, T>) -> Self {
        Shared {
            of,
            stays: PhantomData,
        }
    }
}

impl<G: Grant, T: ?Sized> Deref for Exclusive<'_, G, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: GD1: this guard is the only way to the value.
        unsafe { &*self.of.value.get() }
    }
}

impl<G: Grant, T: ?Sized> DerefMut for Exclusive<'_, G, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: GD1: this guard is the only way to the value.
        unsafe { &mut *self.of.value.get() }
    }
}

impl<G: Grant, T: ?Sized> Deref for Shared<'_, G, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: GD1: no party writes while this guard exists.
        unsafe { &*self.of.value.get() }
    }
}

impl<G: Grant, T: ?Sized> Drop for Exclusive<'_, G, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.of.turns.free(Kind::Write);
    }
}

impl<G: Grant, T: ?Sized> Drop for Shared<'_, G, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.of.turns.free(Kind::Read);
    }
}

//! A wheel together with its timers, so that tests are safe code.
//!
//! # Invariants
//! * TR1. The timers are boxed, never replaced, and dropped with the wheel; all of them are armed
//!   by this wheel only.

use std::ptr::NonNull;

use crate::base::rng::Rng;
use crate::timer::entry::Place;
use crate::timer::{Timer, Wheel};

pub(super) struct Fixture {
    wheel: Wheel<usize>,
    timers: Box<[Timer<usize>]>,
}

impl Fixture {
    /// Returns a wheel with `timers` idle timers, numbered from 0.
    pub(super) fn new(now: u64, timers: usize) -> Self {
        Fixture {
            wheel: Wheel::new(now),
            timers: (0..timers).map(Timer::new).collect(),
        }
    }

    /// Arms timer `id`, which must be idle.
    pub(super) fn arm(&mut self, id: usize, deadline: u64) {
        assert!(!self.timers[id].is_armed());
        // SAFETY: idle as checked above; TR1 keeps it at its address and on this wheel.
        unsafe { self.wheel.arm(NonNull::from(&self.timers[id]), deadline) };
        assert!(self.timers[id].is_armed());
    }

    /// As `arm`, rounded.
    pub(super) fn arm_coarse(&mut self, id: usize, deadline: u64) {
        assert!(!self.timers[id].is_armed());
        // SAFETY: as in `arm`.
        unsafe {
            self.wheel
                .arm_coarse(NonNull::from(&self.timers[id]), deadline);
        }
    }

    pub(super) fn disarm(&mut self, id: usize) -> bool {
        let armed = self.timers[id].is_armed();
        // SAFETY: TR1: if armed, then by this wheel.
        let disarmed = unsafe { self.wheel.disarm(NonNull::from(&self.timers[id])) };
        assert_eq!(armed, disarmed);
        assert!(!self.timers[id].is_armed());
        disarmed
    }

    /// Advances and returns the ids of the fired timers, in order.
    pub(super) fn advance(&mut self, now: u64) -> Vec<usize> {
        let mut fired = Vec::new();
        self.wheel.advance(now, |id| {
            assert!(!self.timers[id].is_armed(), "idle before it is reported");
            assert_eq!(self.timers[id].payload(), id);
            fired.push(id);
        });
        fired
    }

    /// Advances and returns how many timers it has moved to another slot.
    pub(super) fn advance_counting_moves(&mut self, now: u64) -> usize {
        let places = |fixture: &Fixture| {
            fixture
                .timers
                .iter()
                .map(|t| t.place.get())
                .collect::<Vec<_>>()
        };
        let before = places(self);
        self.advance(now);
        let moved = |(old, new): &(Place, Place)| old != new && *new != Place::Nowhere;
        before.into_iter().zip(places(self)).filter(moved).count()
    }

    pub(super) fn wheel(&self) -> &Wheel<usize> {
        &self.wheel
    }

    pub(super) fn wheel_mut(&mut self) -> &mut Wheel<usize> {
        &mut self.wheel
    }
}

/// Returns a number of random magnitude: every bit length up to `bits` is equally likely.
pub(super) fn magnitude(rng: &mut Rng, bits: u32) -> u64 {
    match rng.below(bits as usize + 1) as u32 {
        0 => 0,
        length => rng.next_u64() >> (u64::BITS - length),
    }
}

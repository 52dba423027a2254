//! The pool of stacks: bounded, shared by the workers of a runtime.
//!
//! Owns all stacks outside of fibers and workers' caches, and the memory of all stacks. One short
//! lock guards the lists. System calls are made outside of it. The thread that makes the pool grow
//! holds `growing`, so that many threads that find it empty grow it once.
//!
//! A stack that comes back stays warm, with its pages. Each size class keeps at most as many bytes
//! of warm stacks as `cache` stacks of the default size have. Beyond that, the pages of the stacks
//! that have been unused longest are discarded, of many stacks at a time: each call has to
//! interrupt every processor of the program. So memory shrinks right after a burst, and a load that
//! stays within the bound makes no system call. (Pages are discarded with `MADV_DONTNEED`:
//! `MADV_FREE` would be lazier, but the system would still count the memory.)
//!
//! The bound `max_stacks` counts every stack outside the pool, of any size, including those in
//! workers' caches. A cache holds at most a 64th of it, so that the stacks of one worker's cache
//! cannot starve the others.
//!
//! Stacks *beyond* the bound are for fibers that other fibers wait for (`sched::worker::stacks`).
//! They have size classes of their own, which the bound does not count, so that each of them comes
//! back here and serves nothing else.
//!
//! # Invariants
//! * SP1. `out` is the number of stacks claimed and not yet returned, without those beyond the
//!   bound; at most `max_stacks`. `beyond` is the number of those.
//! * SP2. The reservations are unmapped only when both are 0. Otherwise they stay mapped for the
//!   life of the process, since some fiber may still be on its stack.

use std::io;

use super::class::{COOLED_AT_ONCE, Claim, Class, Growth};
use super::extent::{Extent, Made, ReservedSlot, Slot};
use super::high_water::HighWater;
use super::layout::Layout;
use super::out_of_stacks::OutOfStacks;
use super::stack::Stack;
use crate::context::os::{self, Guarding};
use crate::context::sanitizer;
use crate::shim::{Lock, Mutex};

/// A cache holds at most `max_stacks` divided by this, so that few workers cannot keep all stacks
/// from the others. Arbitrary.
const CACHE_SHARE: usize = 64;

/// The configuration of a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StackConfig {
    /// Bytes of a default stack; raised to 16 KiB and rounded up to pages.
    pub(crate) size: usize,
    /// Stacks that may be outside the pool at once.
    pub(crate) max_stacks: usize,
    /// Stacks of the default size that the pool keeps warm.
    pub(crate) cache: usize,
}

/// The stacks of a runtime.
#[derive(Debug)]
pub(crate) struct StackPool {
    config: StackConfig,
    page: usize,
    guarding: Guarding,
    /// Held by the thread that makes a class grow, including its system calls.
    growing: Mutex<()>,
    state: Lock<State>,
}

#[derive(Debug)]
struct State {
    out: usize,
    beyond: usize,
    /// Number 0 has the default size; the others come with the first request.
    classes: Vec<Class>,
}

impl StackPool {
    /// Creates an empty pool; address space is reserved when the first stack is taken.
    ///
    /// # Errors
    /// `InvalidInput` if no address space could hold a stack of that size.
    pub(crate) fn new(config: StackConfig) -> io::Result<StackPool> {
        StackPool::with_guarding(config, os::guarding())
    }

    pub(in crate::context) fn with_guarding(
        config: StackConfig,
        guarding: Guarding,
    ) -> io::Result<StackPool> {
        let page = os::page_size();
        let layout = Layout::new(config.size, page).ok_or_else(|| {
            let message = format!("a stack of {} bytes is too large", config.size);
            io::Error::new(io::ErrorKind::InvalidInput, message)
        })?;
        let state = State {
            out: 0,
            beyond: 0,
            classes: vec![Class::new(layout, config.cache, false)],
        };
        Ok(StackPool {
            config,
            page,
            guarding,
            growing: Mutex::new(()),
            state: Lock::new(state),
        })
    }

    /// Takes a stack of the default size.
    ///
    /// # Errors
    /// [`OutOfStacks`] if the bound is reached or the system refuses.
    pub(crate) fn take(&self) -> Result<Stack, OutOfStacks> {
        self.take_from(0)
    }

    /// Takes a stack of `size` bytes, rounded up as the default size is.
    ///
    /// # Errors
    /// As [`StackPool::take`].
    pub(crate) fn take_sized(&self, size: usize) -> Result<Stack, OutOfStacks> {
        self.take_of(size, false)
    }

    /// Takes a stack of `size` bytes, or of the default size, that does not count against the
    /// bound.
    ///
    /// # Errors
    /// [`OutOfStacks`] if the system refuses.
    pub(crate) fn take_beyond(&self, size: Option<usize>) -> Result<Stack, OutOfStacks> {
        self.take_of(size.unwrap_or(self.config.size), true)
    }

    fn take_of(&self, size: usize, beyond: bool) -> Result<Stack, OutOfStacks> {
        let layout = self.layout(size)?;
        let class = self.state.lock().class_of(layout, beyond, &self.config);
        self.take_from(class)
    }

    /// Takes back a stack of this pool, on any thread.
    pub(crate) fn give(&self, stack: Stack) {
        sanitizer::given_back(&stack);
        self.rest(std::iter::once(stack));
    }

    /// Returns the number of stacks that are out, including those in workers' caches.
    #[cfg_attr(not(test), expect(dead_code, reason = "for reports on fibers"))]
    pub(crate) fn in_use(&self) -> usize {
        self.state.lock().out
    }

    /// Returns the high-water mark of the stacks of the default size. Makes a system call for each.
    pub(crate) fn high_water(&self) -> HighWater {
        let (layout, made) = {
            let state = self.state.lock();
            let layout = state.classes[0].layout();
            let same = state
                .classes
                .iter()
                .filter(|class| class.layout() == layout);
            let made: Vec<Made> = same.flat_map(Class::made).collect();
            (layout, made)
        };
        // SP2: mapped while the pool exists.
        HighWater::of(layout, &made)
    }

    /// Returns the number of stacks beyond the bound that are out.
    pub(crate) fn beyond(&self) -> usize {
        self.state.lock().beyond
    }

    /// Returns whether workers may keep stacks that they do not need now.
    pub(crate) fn lets_keep(&self) -> bool {
        self.cache_share() > 0
    }

    /// Returns the number of stacks that a worker's cache may hold.
    #[inline]
    pub(super) fn cache_share(&self) -> usize {
        self.config.max_stacks / CACHE_SHARE
    }

    fn take_from(&self, class: usize) -> Result<Stack, OutOfStacks> {
        loop {
            let claim = self.state.lock().claim(class, self.config.max_stacks)?;
            let stack = match claim {
                Claim::Warm(stack) => stack,
                Claim::Cold(slot) => slot.into_stack(),
                Claim::ReservedSlot(reserved) => self.open(reserved)?.into_stack(),
                Claim::Nothing => {
                    self.grow(class)?;
                    continue;
                }
            };
            sanitizer::taken(&stack);
            return Ok(stack);
        }
    }

    /// Ensures that there is a stack of `size` bytes, or of the default size, in use or not. So a
    /// fiber that waits for a stack gets one when others end.
    ///
    /// # Errors
    /// [`OutOfStacks`] if the system refuses the first one.
    pub(crate) fn ensure(&self, size: Option<usize>) -> Result<(), OutOfStacks> {
        let layout = self.layout(size.unwrap_or(self.config.size))?;
        let class = {
            let mut state = self.state.lock();
            let class = state.class_of(layout, false, &self.config);
            if state.classes[class].has_stacks() {
                return Ok(());
            }
            class
        };
        // Held while the slot is neither out nor in its class: a claim that does not find it waits
        // here.
        let _growing = self.growing.lock();
        loop {
            let claim = self.state.lock().classes[class].claim();
            let slot = match claim {
                Claim::ReservedSlot(reserved) => self.open_slot(reserved)?,
                Claim::Cold(slot) => slot,
                Claim::Warm(stack) => {
                    self.state.lock().classes[class].rest_warm(stack);
                    return Ok(());
                }
                Claim::Nothing => {
                    self.grow_alone(class)?;
                    continue;
                }
            };
            self.state.lock().classes[class].rest_cold(slot);
            return Ok(());
        }
    }

    fn layout(&self, size: usize) -> Result<Layout, OutOfStacks> {
        Layout::new(size, self.page).ok_or(OutOfStacks::System {
            errno: libc::ENOMEM,
        })
    }

    #[cold]
    fn open(&self, reserved: ReservedSlot) -> Result<Slot, OutOfStacks> {
        let class = reserved.place().class as usize;
        self.open_slot(reserved)
            .inspect_err(|_| *self.state.lock().count(class) -= 1)
    }

    fn open_slot(&self, reserved: ReservedSlot) -> Result<Slot, OutOfStacks> {
        reserved.open().map_err(|(reserved, error)| {
            let class = reserved.place().class as usize;
            self.state.lock().classes[class].unclaim(reserved);
            OutOfStacks::system(&error)
        })
    }

    #[cold]
    fn grow(&self, class: usize) -> Result<(), OutOfStacks> {
        let _growing = self.growing.lock();
        self.grow_alone(class)
    }

    /// Makes the class grow, if it has no free stack. *Under `growing`.*
    fn grow_alone(&self, class: usize) -> Result<(), OutOfStacks> {
        let (growth, layout) = {
            let state = self.state.lock();
            let class = &state.classes[class];
            (class.growth(self.config.max_stacks), class.layout())
        };
        match growth {
            Growth::Needless => {}
            Growth::Open(run) => {
                let opened = run.open().map_err(|error| OutOfStacks::system(&error))?;
                self.state.lock().classes[class].opened(opened);
            }
            Growth::Reserve { number, slots } => {
                // Fits: a program has few sizes of stacks.
                let number = (class as u32, number);
                let extent = self.reserve(layout, slots, number)?;
                self.state.lock().classes[class].add(extent);
            }
        }
        Ok(())
    }

    /// Reserves `slots` slots, or as many as the system allows.
    fn reserve(
        &self,
        layout: Layout,
        mut slots: usize,
        number: (u32, u32),
    ) -> Result<Extent, OutOfStacks> {
        loop {
            match Extent::reserve(layout, slots, self.guarding, number) {
                Ok(extent) => return Ok(extent),
                Err(_) if slots > 1 => slots /= 2,
                Err(error) => return Err(OutOfStacks::system(&error)),
            }
        }
    }

    /// Takes stacks back, the one that was used last at the end. If that makes too many, the pages
    /// of the excess ones are discarded.
    pub(super) fn rest(&self, stacks: impl Iterator<Item = Stack>) {
        if !self.state.lock().rest(stacks) {
            return;
        }
        // Its memory is allocated while the lock is free.
        let mut slots: Vec<Slot> = Vec::with_capacity(COOLED_AT_ONCE);
        loop {
            let mut state = self.state.lock();
            for slot in slots.drain(..) {
                state.classes[slot.place().class as usize].rest_cold(slot);
            }
            state.cool(&mut slots);
            drop(state);
            if slots.is_empty() {
                break;
            }
            Slot::discard_all(&slots);
        }
    }
}

impl Drop for StackPool {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        if state.out + state.beyond > 0 {
            return;
        }
        for extent in state.classes.drain(..).flat_map(Class::into_extents) {
            // SAFETY: SP1, SP2: nothing is out, and the unused handles went with the class.
            unsafe { extent.release() };
        }
    }
}

impl State {
    fn claim(&mut self, class: usize, max: usize) -> Result<Claim, OutOfStacks> {
        if self.out >= max && !self.classes[class].is_beyond() {
            return Err(OutOfStacks::cap(max));
        }
        let claim = self.classes[class].claim();
        if !matches!(claim, Claim::Nothing) {
            *self.count(class) += 1;
        }
        Ok(claim)
    }

    /// Returns the count of stacks of that class that are out (SP1).
    fn count(&mut self, class: usize) -> &mut usize {
        match self.classes[class].is_beyond() {
            true => &mut self.beyond,
            false => &mut self.out,
        }
    }

    /// Returns the number of the class with that layout, and creates the class if it is new.
    fn class_of(&mut self, layout: Layout, beyond: bool, config: &StackConfig) -> usize {
        let is_meant =
            |class: &Class| class.layout() == layout && class.is_beyond() == beyond;
        if let Some(known) = self.classes.iter().position(is_meant) {
            return known;
        }
        let warm_max = config.cache.saturating_mul(config.size) / layout.size;
        self.classes.push(Class::new(layout, warm_max, beyond));
        self.classes.len() - 1
    }

    /// Takes stacks back; true if there are too many now.
    fn rest(&mut self, stacks: impl Iterator<Item = Stack>) -> bool {
        for stack in stacks {
            let class = stack.place().class as usize;
            *self.count(class) -= 1;
            self.classes[class].rest_warm(stack);
        }
        self.classes.iter().any(Class::is_too_warm)
    }

    /// Removes some stacks that are to become cold, if too many are warm.
    fn cool(&mut self, slots: &mut Vec<Slot>) {
        self.classes.iter_mut().for_each(|class| class.cool(slots));
    }
}

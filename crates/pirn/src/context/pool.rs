//! The pool of stacks: bounded, shared by the workers of a runtime.
//!
//! Owns every stack that no fiber and no worker's cache holds, and the memory of all. One
//! short lock guards the lists; system calls are made outside of it, and whoever makes the
//! pool grow holds `growing`, so that a crowd that finds it empty grows it once.
//!
//! A stack that comes back stays warm, pages and all. Each size class keeps at most as many
//! bytes of warm stacks as `cache` stacks of the default size have; beyond that the stacks
//! that lay longest give their pages back and go cold, many at a time: every processor of
//! the program has to be interrupted for it, once for each call. So memory follows a burst
//! down at once, and a load that stays within the bound makes no system call. (Pages are
//! given back with `MADV_DONTNEED`: `MADV_FREE` would be lazier but leave the memory in the
//! books.)
//!
//! The bound `max_stacks` counts every stack outside the pool, whatever its size, those in
//! workers' caches included; a cache holds at most a 64th of it, so that what one worker
//! hoards cannot starve the others.
//!
//! Stacks *beyond* the bound are for fibers that others wait for (`sched::lend`). They
//! have size classes of their own, not counted by the bound, so that each of them comes back
//! here and serves nothing else.
//!
//! # Invariants
//! * SP1. `out` is the number of stacks claimed and not yet given back, without those beyond the
//!   bound; at most `max_stacks`. `beyond` is the number of those.
//! * SP2. The reservations are unmapped only when both are 0; else they are left mapped for
//!   good, since some fiber may still stand on its stack.

use std::io;

use super::class::{COOLED_AT_ONCE, Claim, Class, Growth};
use super::extent::{Extent, Slot, Virgin};
use super::layout::Layout;
use super::os::{self, Guarding};
use super::out_of_stacks::OutOfStacks;
use super::sanitizer;
use super::stack::Stack;
use crate::shim::{Lock, Mutex};

/// A cache holds at most `max_stacks` divided by this, so that few workers cannot keep all
/// stacks from the others. Arbitrary.
const CACHE_SHARE: usize = 64;

/// What a pool is made of.
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
    /// Held by whoever makes a class grow, system calls included.
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
    /// Makes an empty pool; address space is reserved when the first stack is taken.
    ///
    /// # Errors
    /// `InvalidInput` if no address space could hold a stack of that size.
    pub(crate) fn new(config: StackConfig) -> io::Result<StackPool> {
        StackPool::with_guarding(config, os::guarding())
    }

    pub(super) fn with_guarding(
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

    /// Takes back a stack that this pool has returned, by whatever thread.
    pub(crate) fn give(&self, stack: Stack) {
        sanitizer::given_back(&stack);
        self.rest(std::iter::once(stack));
    }

    /// Returns how many stacks are out, those in workers' caches included.
    #[cfg_attr(not(test), expect(dead_code, reason = "for reports on fibers"))]
    pub(crate) fn in_use(&self) -> usize {
        self.state.lock().out
    }

    /// Returns how many stacks beyond the bound are out.
    pub(crate) fn beyond(&self) -> usize {
        self.state.lock().beyond
    }

    /// Whether workers may keep stacks that they do not need now.
    pub(crate) fn lets_keep(&self) -> bool {
        self.cache_share() > 0
    }

    /// Returns how many stacks a worker's cache may hold.
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
                Claim::Virgin(virgin) => self.open(virgin)?.into_stack(),
                Claim::Nothing => {
                    self.grow(class)?;
                    continue;
                }
            };
            sanitizer::taken(&stack);
            return Ok(stack);
        }
    }

    /// Sees to it that there is a stack of `size` bytes, or of the default size, in use or at
    /// rest. So a fiber that waits for a stack gets one when others end.
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
        // Held for as long as the slot is neither out nor at rest: a claim that does not find it
        // waits here.
        let _growing = self.growing.lock();
        loop {
            let claim = self.state.lock().classes[class].claim();
            let slot = match claim {
                Claim::Virgin(virgin) => self.open_slot(virgin)?,
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
    fn open(&self, virgin: Virgin) -> Result<Slot, OutOfStacks> {
        let class = virgin.place().class as usize;
        self.open_slot(virgin)
            .inspect_err(|_| *self.state.lock().count(class) -= 1)
    }

    fn open_slot(&self, virgin: Virgin) -> Result<Slot, OutOfStacks> {
        virgin.open().map_err(|(virgin, error)| {
            let class = virgin.place().class as usize;
            self.state.lock().classes[class].unclaim(virgin);
            OutOfStacks::system(&error)
        })
    }

    #[cold]
    fn grow(&self, class: usize) -> Result<(), OutOfStacks> {
        let _growing = self.growing.lock();
        self.grow_alone(class)
    }

    /// Makes the class grow, if it has nothing to offer. *Under `growing`.*
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

    /// Reserves `slots` slots, or as many as the system lets us have.
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

    /// Takes stacks back, the one that was used last at the end; those that are too many
    /// give their pages back.
    pub(super) fn rest(&self, stacks: impl Iterator<Item = Stack>) {
        if !self.state.lock().rest(stacks) {
            return;
        }
        // Memory for it comes while the lock is free.
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
            // SAFETY: SP1, SP2: nothing is out, and the handles at rest went with the class.
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

    /// The count of stacks of that class that are out (SP1).
    fn count(&mut self, class: usize) -> &mut usize {
        match self.classes[class].is_beyond() {
            true => &mut self.beyond,
            false => &mut self.out,
        }
    }

    /// Returns the number of the class with that layout, which is made if it is new.
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

    /// Parts with some stacks that are to go cold, if there are too many warm ones.
    fn cool(&mut self, slots: &mut Vec<Slot>) {
        self.classes.iter_mut().for_each(|class| class.cool(slots));
    }
}

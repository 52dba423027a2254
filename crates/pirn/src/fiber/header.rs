//! The header: all data of one fiber, in one pooled block.
//!
//! Owns: the layout, and which party may access which field. Does not own: the meaning of the state
//! word (`state`), allocation (`slab`), references (`fiber_ref`), the closure's types (`entry`).
//!
//! ```text
//! line 0  state · link · context · stack · home · vtable · refs   every dispatch and wake
//! line 1  join lock, joiners · end hook · spawn location · label   spawn, end, join
//! line 2  started links · locals · region · notice · class         start, end, diagnostics
//! line 3… payload: the closure, later the outcome                  64 B in the least class
//! ```
//!
//! Invariants:
//! * H1. Type-stable: the memory of a header is a header, initialised, until the process
//!   ends. Any pointer to one may be dereferenced for its atomics at any time.
//! * H2. Every plain field belongs to the *owner*: the spawner until it publishes the fiber, then
//!   the party that took it from a queue, then the fiber and its worker, which are one thread.
//!   Ownership moves only through a queue or a claim, both of which order it. (Where fibers may
//!   migrate: also by a hold on the state word, which orders it too.)
//! * H3. `home` is written before the fiber parks for the first time and read by the winner of a
//!   claim on Parked; the park and the claim of the state word order the two.
//! * H4. `refs` counts the runtime (one, from spawn to the end) and every handle. At zero only
//!   stale tickets refer to the fiber, and the header goes back to its slab.
//! * H5. The payload holds the closure until the fiber takes it out to run it, afterwards what
//!   `outcome` says; from `join.done` on it belongs to the join handle.

use std::cell::UnsafeCell;
use std::io::{self, Write as _};
use std::mem::{MaybeUninit, offset_of};
use std::ops::Deref;
use std::panic::Location;
use std::process;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::AtomicU8;

use super::cancel::scope::{CurrentScope, RegionRef};
use super::cancel::token::Node;
use super::end_hook::EndHook;
use super::fiber_ptr::{FiberHead, FiberPtr};
use super::local::values::Locals;
use super::schedule::Schedule;
use super::spans::Spans;
use super::stackless::words::StackOwner;
use super::state_names::Life;
use super::vtable::Vtable;
use super::waking::{Ticket, WaitQueue};
use crate::base::list::{DoublyLinked, Links, List};
use crate::base::mutant::or_relaxed;
use crate::base::name::Name;
use crate::context::{Context, Stack};
use crate::shim::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use crate::shim::{Cell, Lock};
use crate::sys::parker::Parker;

/// How the fiber's closure ended, which determines the content of the payload.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The closure itself, or nothing yet.
    Pending,
    /// The closure's result.
    Value,
    /// The payload of its panic.
    Panicked,
    /// Nothing: the closure was dropped unrun.
    NotRun,
    /// Nothing: the outcome was there and has been taken or dropped.
    Taken,
}

/// Shared by the end of a fiber and the holder of its handle.
pub(crate) struct Join {
    /// The outcome is in the payload (H5).
    pub(crate) done: bool,
    /// The outcome will not be asked for.
    pub(crate) detached: bool,
    /// `own` is the token of the fiber itself, for the jobs that it promotes; it stays until the
    /// fiber ends.
    pub(crate) whole: bool,
    /// The code that the fiber does a part of is in a shield: the cancellation of the runtime is
    /// not the fiber's.
    sheltered: bool,
    /// Odd while the fiber waits for a stack (`stackless`).
    pub(crate) stackless: u32,
    pub(crate) waiters: WaitQueue<StackOwner>,
    /// The token of the outermost part of the fiber's code that has one
    /// (RG4 in `fiber::cancel::scope`).
    pub(crate) own: Option<Arc<Node>>,
}

/// Data that only some fibers have.
#[derive(Debug, Default)]
pub(crate) struct Label {
    pub(crate) name: Option<String>,
    pub(crate) stack_size: Option<usize>,
}

/// One fiber.
#[repr(C, align(64))]
pub(crate) struct Header {
    head: FiberHead,
    machine: Machine,
    /// The scheduler that enqueues it; set when it settles (H3).
    home: Cell<Option<&'static dyn Schedule>>,
    pub(crate) vtable: Cell<&'static Vtable>,
    refs: AtomicU32,
    /// Where a plain thread, or a fiber that must block its thread, sleeps.
    pub(crate) parker: Parker,

    pub(crate) join: Lock<Join>,
    spawn: Spawn,

    started: Links<Header>,
    code: Code,
    /// The identity: the number of the block, and in the upper half the number of fibers that have
    /// used it.
    identity: AtomicU64,
    payload: Payload,
    /// The name of its state; in debug builds. Owner.
    pub(crate) life: Life,
    /// Boolean flags of the fiber and its current wait. The owner writes them; the handle reads one,
    /// maybe while the owner still writes others (see `Flags::bits`).
    pub(crate) flags: Flags,
    /// How its spawn line counts and places it (`sched::placement::lines`); 0 if it does not, and
    /// after its end. The spawner, then the owner.
    pub(crate) placement: Cell<u32>,
    /// The spans of `tracing` that its code is in. Owner.
    pub(crate) spans: Spans,
}

/// The stack of a fiber, and the place on it where the fiber resumes.
#[repr(C)]
struct Machine {
    /// Where the fiber resumes; meaningless while it runs. Owner.
    context: UnsafeCell<Context>,
    /// None while fresh and after the end. Owner.
    stack: UnsafeCell<Option<Stack>>,
}

/// The fields that the spawner sets.
#[repr(C)]
struct Spawn {
    on_end: Cell<Option<EndHook>>,
    /// Where it was spawned. Constant while the fiber lives; atomic, so that a report may
    /// read it though the fiber may have ended.
    location: AtomicPtr<Location<'static>>,
    /// Constant while the fiber lives.
    label: Cell<Option<NonNull<Label>>>,
}

/// The data of the running code.
#[repr(C)]
struct Code {
    /// Owner.
    locals: Cell<Option<NonNull<Locals>>>,
    /// The scope in force. The spawner, then the owner.
    region: Cell<CurrentScope>,
    /// The notice of the current wait: a `wait::wait_info::Notice` in the frame that waits. Null if
    /// there is none.
    /// Written by the owner, and read by it and by its worker.
    notice: Cell<*const ()>,
}

/// The class and the content of the payload, which is behind the header.
#[repr(C)]
struct Payload {
    class: u8,
    /// Owner, then the handle (H5).
    outcome: Cell<Outcome>,
}

/// Eight fiber flags packed into one byte, to keep the header small.
#[derive(Debug)]
pub(crate) struct Flags(AtomicU8);

impl Flags {
    const TICKET_EXPOSED: u8 = 1;
    const CLAIMED_EARLY: u8 = 2;
    const KEEPS_PANIC: u8 = 4;
    const OWN_SIZE: u8 = 8;
    const ON_POLL_STACK: u8 = 16;
    const MUST_RUN: u8 = 32;
    #[cfg(all(target_os = "linux", not(pirn_modelled)))]
    const PARKS_IN_LIBC: u8 = 64;
    #[cfg(all(target_os = "linux", not(pirn_modelled)))]
    const BLOCKS_IN_LIBC: u8 = 128;

    #[inline(always)]
    fn bits(&self) -> u8 {
        // ORDERING: Relaxed: the bits pass to a new owner with the fiber (H2). The handle reads one
        // after the end that does not change any more, while a waker that the ended fiber calls
        // may begin a wait and write others.
        self.0.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn set_bits(&self, bits: u8) {
        // ORDERING: Relaxed: as in `bits`; one party writes at a time.
        self.0.store(bits, Ordering::Relaxed);
    }

    /// Returns whether a panic stays in the payload for the scope to raise, even without a joiner.
    #[inline(always)]
    pub(crate) fn keeps_panic(&self) -> bool {
        self.bits() & Flags::KEEPS_PANIC != 0
    }

    #[inline]
    pub(crate) fn set_keeps_panic(&self) {
        self.set_bits(self.bits() | Flags::KEEPS_PANIC);
    }

    /// Returns whether its closure is run even if it is cancelled before that: another party needs
    /// the result.
    #[inline(always)]
    pub(crate) fn must_run(&self) -> bool {
        self.bits() & Flags::MUST_RUN != 0
    }

    pub(crate) fn set_must_run(&self, must_run: bool) {
        let rest = self.bits() & !Flags::MUST_RUN;
        self.set_bits(rest | (u8::from(must_run) * Flags::MUST_RUN));
    }

    /// Returns whether user code has the ticket of the present epoch.
    #[inline(always)]
    pub(crate) fn is_ticket_exposed(&self) -> bool {
        self.bits() & Flags::TICKET_EXPOSED != 0
    }

    pub(crate) fn set_ticket_exposed(&self, is_exposed: bool) {
        let rest = self.bits() & !Flags::TICKET_EXPOSED;
        self.set_bits(rest | (u8::from(is_exposed) * Flags::TICKET_EXPOSED));
    }

    /// Returns whether polls run on the fiber's present stack: that has a size of its own, or is
    /// the one for polls.
    #[inline(always)]
    pub(crate) fn polls_where_it_is(&self) -> bool {
        self.bits() & (Flags::OWN_SIZE | Flags::ON_POLL_STACK) != 0
    }

    /// Returns whether the fiber is in the middle of a poll, and not on its own stack.
    pub(crate) fn is_on_poll_stack(&self) -> bool {
        self.bits() & Flags::ON_POLL_STACK != 0
    }

    #[inline(always)]
    pub(crate) fn set_on_poll_stack(&self, is_on: bool) {
        let rest = self.bits() & !Flags::ON_POLL_STACK;
        self.set_bits(rest | (u8::from(is_on) * Flags::ON_POLL_STACK));
    }

    /// Returns whether calls of libc park the fiber in place of its thread (`pirn-hooks`), if its
    /// code has decided that.
    #[cfg(all(target_os = "linux", not(pirn_modelled)))]
    #[inline(always)]
    pub(crate) fn parks_in_libc(&self) -> Option<bool> {
        match self.bits() & (Flags::PARKS_IN_LIBC | Flags::BLOCKS_IN_LIBC) {
            0 => None,
            flags => Some(flags & Flags::PARKS_IN_LIBC != 0),
        }
    }

    #[cfg(all(target_os = "linux", not(pirn_modelled)))]
    pub(crate) fn set_parks_in_libc(&self, parks: Option<bool>) {
        let rest = self.bits() & !(Flags::PARKS_IN_LIBC | Flags::BLOCKS_IN_LIBC);
        self.set_bits(match parks {
            None => rest,
            Some(true) => rest | Flags::PARKS_IN_LIBC,
            Some(false) => rest | Flags::BLOCKS_IN_LIBC,
        });
    }

    /// Records that the wait has ended before the fiber had parked, or while a visitor held it;
    /// where fibers may migrate.
    pub(crate) fn set_claimed_early(&self) {
        self.set_bits(self.bits() | Flags::CLAIMED_EARLY);
    }

    /// Returns whether [`set_claimed_early`](Self::set_claimed_early) was called, and resets it.
    pub(crate) fn take_claimed_early(&self) -> bool {
        let flags = self.bits();
        self.set_bits(flags & !Flags::CLAIMED_EARLY);
        flags & Flags::CLAIMED_EARLY != 0
    }
}

/// Bytes from the start of a header to its payload.
pub(crate) const PAYLOAD_OFFSET: usize = size_of::<Header>();

const _: () = assert!(offset_of!(Header, head) == 0, "`FiberPtr` points to `head`");

impl FiberPtr {
    /// Returns the pointer to a header.
    ///
    /// # Safety
    /// H1: the header is never freed or moved, and no `&mut` to it exists any more. The provenance
    /// of `header` covers its payload.
    pub(super) unsafe fn to(header: NonNull<Header>) -> FiberPtr {
        // SAFETY: the caller's promise.
        unsafe { FiberPtr::new(header.cast()) }
    }

    /// Returns the header (H1).
    #[inline(always)]
    pub(crate) fn header(self) -> &'static Header {
        // SAFETY: H1: `head` is at the beginning of a header, and the pointer covers all of that.
        unsafe { self.as_non_null().cast::<Header>().as_ref() }
    }
}

/// Gives access to the state word.
impl Deref for Header {
    type Target = FiberHead;

    #[inline(always)]
    fn deref(&self) -> &FiberHead {
        &self.head
    }
}

impl List<Header> {
    /// Returns the fibers of the list, oldest first.
    pub(crate) fn fibers(&self) -> impl Iterator<Item = FiberPtr> {
        self.iter().map(|header| {
            // SAFETY: H1: `push_fiber` puts only headers of the slab into a list.
            unsafe { FiberPtr::to(header) }
        })
    }

    /// Appends a fiber.
    ///
    /// # Safety
    /// The fiber is in no list of this kind.
    pub(crate) unsafe fn push_fiber(&mut self, fiber: FiberPtr) {
        // SAFETY: a header is never freed (H1); the rest is the caller's promise.
        unsafe { self.push_back(fiber.as_non_null().cast()) };
    }

    /// Removes a fiber.
    ///
    /// # Safety
    /// The fiber is in this list, or in none of this kind.
    pub(crate) unsafe fn remove_fiber(&mut self, fiber: FiberPtr) {
        // SAFETY: the caller's promise; a header is never freed (H1).
        unsafe { self.remove(fiber.as_non_null().cast()) };
    }

    /// Removes and returns the oldest fiber.
    pub(crate) fn pop_fiber(&mut self) -> Option<FiberPtr> {
        self.pop_front().map(|header| {
            // SAFETY: H1: `push_fiber` puts only headers of the slab into a list.
            unsafe { FiberPtr::to(header) }
        })
    }
}

// SAFETY: H2: plain fields are accessed by their owner only; the rest is atomic or locked.
unsafe impl Sync for Header {}

// SAFETY: the links are a field of the header; they are used by the list of started fibers only.
unsafe impl DoublyLinked for Header {
    #[inline(always)]
    fn links(node: NonNull<Self>) -> NonNull<Links<Self>> {
        // SAFETY: H1: in bounds of a valid header.
        unsafe { node.byte_add(offset_of!(Header, started)) }.cast()
    }
}

impl Header {
    /// Returns the header of a block that has never held a fiber.
    pub(super) fn vacant(class: u8, index: u32) -> Header {
        Header {
            head: FiberHead::new(),
            machine: Machine {
                context: UnsafeCell::new(Context::empty()),
                stack: UnsafeCell::new(None),
            },
            home: Cell::new(None),
            vtable: Cell::new(Vtable::none()),
            refs: AtomicU32::new(0),
            parker: Parker::new(),
            join: Lock::new(Join {
                done: false,
                detached: false,
                whole: false,
                sheltered: false,
                stackless: 0,
                waiters: WaitQueue::new(),
                own: None,
            }),
            spawn: Spawn {
                on_end: Cell::new(None),
                location: AtomicPtr::new(ptr::from_ref(Location::caller()).cast_mut()),
                label: Cell::new(None),
            },
            started: Links::new(),
            code: Code {
                locals: Cell::new(None),
                region: Cell::new(CurrentScope::NONE),
                notice: Cell::new(ptr::null()),
            },
            identity: AtomicU64::new(u64::from(index)),
            payload: Payload {
                class,
                outcome: Cell::new(Outcome::Pending),
            },
            flags: Flags(AtomicU8::new(0)),
            placement: Cell::new(0),
            life: Life::new(),
            spans: Spans::new(),
        }
    }

    /// Makes a block from the slab a new fiber with `refs` references. Only this function resets
    /// fields, so none keeps a value of the last fiber.
    #[inline]
    pub(super) fn renew(&self, location: &'static Location<'static>, refs: u32) {
        self.state.recycle();
        self.life.begin();
        self.home.set(None);
        // ORDERING: Relaxed: no other party holds the header; publishing it is the release.
        self.refs.store(refs, Ordering::Relaxed);
        let identity = self.identity.load(Ordering::Relaxed);
        self.identity
            .store(identity.wrapping_add(1 << 32), Ordering::Relaxed);
        {
            // SAFETY: H4: no reference to this header is left, so the lock is free; a stale ticket
            // accesses the state word only.
            let mut join = unsafe { self.join.unshared() };
            join.done = false;
            join.detached = false;
            join.sheltered = false;
        }
        self.spawn.on_end.set(None);
        debug_assert!(
            self.code.locals.get().is_none(),
            "locals end with their fiber"
        );
        self.spawn
            .location
            .store(ptr::from_ref(location).cast_mut(), Ordering::Relaxed);
        self.spawn.label.set(None);
        self.payload.outcome.set(Outcome::Pending);
        self.flags.set_bits(0);
        self.code.region.set(CurrentScope::NONE);
    }

    /// Returns the place of the fiber's context. Owner.
    #[inline(always)]
    pub(crate) fn context(&self) -> *mut Context {
        self.machine.context.get()
    }

    /// Returns the place of the fiber's stack. Owner.
    #[inline(always)]
    pub(crate) fn stack(&self) -> *mut Option<Stack> {
        self.machine.stack.get()
    }

    /// Returns the function that is called at the fiber's end.
    #[inline(always)]
    pub(crate) fn on_end(&self) -> Option<EndHook> {
        self.spawn.on_end.get()
    }

    #[inline(always)]
    pub(crate) fn set_on_end(&self, hook: Option<EndHook>) {
        self.spawn.on_end.set(hook);
    }

    #[inline(always)]
    pub(crate) fn take_on_end(&self) -> Option<EndHook> {
        self.spawn.on_end.take()
    }

    /// Returns whether the fiber has a name or a stack size of its own.
    #[inline(always)]
    pub(crate) fn has_label(&self) -> bool {
        self.spawn.label.get().is_some()
    }

    /// Returns the fiber's locals. Owner.
    #[inline(always)]
    pub(super) fn locals(&self) -> Option<NonNull<Locals>> {
        self.code.locals.get()
    }

    /// Returns whether the fiber has locals. Owner.
    #[inline(always)]
    pub(crate) fn has_locals(&self) -> bool {
        self.locals().is_some()
    }

    #[inline(always)]
    pub(super) fn set_locals(&self, locals: Option<NonNull<Locals>>) {
        self.code.locals.set(locals);
    }

    #[inline(always)]
    pub(super) fn take_locals(&self) -> Option<NonNull<Locals>> {
        self.code.locals.take()
    }

    /// Returns the scope in force for the running code. The spawner, then the owner.
    #[inline(always)]
    pub(crate) fn scope(&self) -> CurrentScope {
        self.code.region.get()
    }

    #[inline(always)]
    pub(crate) fn set_scope(&self, scope: CurrentScope) {
        self.code.region.set(scope);
    }

    /// Makes the fiber run under `region`, that of the code which it does a part of. The spawner.
    pub(crate) fn inherit_scope(&self, region: RegionRef) {
        if region.get().is_in_shield() {
            self.join.lock().sheltered = true;
        }
        self.set_scope(CurrentScope::of(region));
    }

    /// Cancels the fiber because its runtime is, unless it is sheltered. True: the caller has
    /// claimed its wait, and enqueues it.
    pub(crate) fn cancel_with_runtime(&self) -> bool {
        !self.join.lock().sheltered && self.state.cancel()
    }

    /// Returns the notice of the fiber's wait (`wait::wait_info`), or null. Owner, and its worker.
    #[inline(always)]
    pub(crate) fn notice(&self) -> *const () {
        self.code.notice.get()
    }

    #[inline(always)]
    pub(crate) fn set_notice(&self, notice: *const ()) {
        self.code.notice.set(notice);
    }

    /// Returns the class of the block.
    #[inline(always)]
    pub(super) fn class(&self) -> u8 {
        self.payload.class
    }

    /// Returns what the payload holds. Owner, then the handle (H5).
    #[inline(always)]
    pub(crate) fn outcome(&self) -> Outcome {
        self.payload.outcome.get()
    }

    #[inline(always)]
    pub(crate) fn set_outcome(&self, outcome: Outcome) {
        self.payload.outcome.set(outcome);
    }

    /// Records that the outcome is no longer in the payload, and returns it.
    #[inline(always)]
    pub(crate) fn take_outcome(&self) -> Outcome {
        self.payload.outcome.replace(Outcome::Taken)
    }

    /// Returns where the closure and the outcome are. The provenance covers the whole block.
    #[inline(always)]
    pub(crate) fn payload(fiber: FiberPtr) -> *mut MaybeUninit<u8> {
        // SAFETY: H1: a block of a slab is at least as long as its header.
        unsafe { fiber.as_ptr().cast::<MaybeUninit<u8>>().add(PAYLOAD_OFFSET) }
    }

    /// Returns a number that no other fiber of this process has, until 2^32 fibers have used
    /// the same block.
    #[inline]
    pub(crate) fn id(&self) -> u64 {
        self.identity.load(Ordering::Relaxed)
    }

    /// Returns where the fiber was spawned.
    #[inline]
    pub(crate) fn location(&self) -> &'static Location<'static> {
        // SAFETY: only ever set to references with static lifetime.
        unsafe { &*self.spawn.location.load(Ordering::Relaxed) }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        // SAFETY: H2: the label is constant while the fiber lives, and a handle holds it.
        self.spawn
            .label
            .get()
            .and_then(|label| unsafe { label.as_ref() }.name.as_deref())
    }

    pub(crate) fn stack_size(&self) -> Option<usize> {
        // SAFETY: as in `name`.
        self.spawn
            .label
            .get()
            .and_then(|label| unsafe { label.as_ref() }.stack_size)
    }

    /// Returns whether the fiber is fresh: spawned and never run, so it has no stack and no home
    /// yet. Owner.
    #[inline(always)]
    pub(crate) fn is_fresh(&self) -> bool {
        self.home.get().is_none()
    }

    /// Settles the fiber, or changes how a thread sleeps. Owner, never while parked.
    #[inline(always)]
    pub(crate) fn set_home(&self, home: &'static dyn Schedule) {
        self.home.set(Some(home));
    }

    #[inline(always)]
    pub(crate) fn home(&self) -> &'static dyn Schedule {
        self.home
            .get()
            .expect("only a started fiber can wait or be woken")
    }

    /// Returns the right to wake the owner from the wait it is about to begin. Owner.
    #[inline(always)]
    pub(crate) fn ticket(fiber: FiberPtr) -> Ticket {
        Ticket::new(fiber, fiber.header().state.epoch())
    }

    /// Makes `fiber` the owner of `stack` that the report of an overflow names.
    pub(crate) fn own(fiber: FiberPtr, stack: &Stack) {
        // SAFETY: H1: headers are never freed, and `describe_owner` takes one.
        unsafe { stack.set_owner(fiber.as_ptr().cast()) };
    }

    /// Adds a reference. The caller holds one.
    pub(crate) fn retain(&self) {
        // ORDERING: Relaxed: a new reference is made from one that exists (as in `Arc`).
        let refs = self.refs.fetch_add(1, Ordering::Relaxed);
        if refs >= u32::MAX / 2 {
            too_many_handles();
        }
    }

    /// True if the caller's reference is the only one. What the others did came before.
    #[inline(always)]
    pub(super) fn has_one_reference(&self) -> bool {
        // ORDERING: Acquire: pairs with the Release decrement of the second to last holder.
        let sole = or_relaxed!(Ordering::Acquire, "sole_owner_relaxed");
        self.refs.load(sole) == 1
    }

    /// Releases one reference; true if it was the last one (H4).
    #[inline(always)]
    pub(super) fn give_reference_back(&self) -> bool {
        // PERF: a sole owner needs no read-modify-write: no other party can add a reference.
        if !self.has_one_reference() {
            // ORDERING: Release: what this holder did comes before the header's recycling.
            let last = or_relaxed!(Ordering::Release, "release_relaxed");
            if self.refs.fetch_sub(1, last) != 1 {
                return false;
            }
            // ORDERING: Acquire: pairs with the Release decrements of all others. A load and
            // not a fence, since ThreadSanitizer does not see fences.
            self.refs.load(Ordering::Acquire);
        }
        true
    }

    /// Drops the label of a fiber without references (H4).
    #[cold]
    pub(super) fn drop_label(&self) {
        if let Some(label) = self.spawn.label.take() {
            // SAFETY: created by `Box::leak` in `set_label`; H4: no other party can reach it.
            drop(unsafe { Box::from_raw(label.as_ptr()) });
        }
    }

    /// Sets the name and stack size of the fiber. Before it is published.
    pub(crate) fn set_label(&self, label: Label) {
        if label.stack_size.is_some() {
            self.flags.set_bits(self.flags.bits() | Flags::OWN_SIZE);
        }
        self.spawn
            .label
            .set(Some(NonNull::from(Box::leak(Box::new(label)))));
    }
}

impl std::fmt::Debug for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Header")
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}

/// Ends the process, as `Arc` does: the count would wrap around, and the header be used after its end.
#[cold]
fn too_many_handles() -> ! {
    let said = "pirn: 2^31 handles to one fiber: they are leaked, by `mem::forget`";
    let _ = writeln!(io::stderr(), "{said}");
    process::abort();
}

/// Writes the owner of a stack, for a report from a signal handler: no allocation, no lock. A long
/// name leaves room for the rest of the report.
pub(crate) fn describe_owner(owner: NonNull<()>, out: &mut dyn std::fmt::Write) {
    // SAFETY: H1; stacks are owned by headers (`sched::worker::run`).
    let header = unsafe { owner.cast::<Header>().as_ref() };
    let name = Name(header.name().unwrap_or("unnamed"));
    let location = header.location();
    let _ = write!(
        out,
        "fiber {} '{name:.128}' (spawned at {location})",
        header.id()
    );
}

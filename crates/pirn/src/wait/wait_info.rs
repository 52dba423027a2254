//! The notice that a fiber leaves when it parks: the reason, the time, the place in the source, and
//! the object.
//!
//! Owns: the way from a fiber's header to the object it waits for. Does not own: the description of
//! an object (`object`), nor the readers (`observe::report::snapshot`).
//!
//! A notice lies in the frame of `park_on`, and the header points to it: one store when the fiber
//! parks, one when it resumes. The fiber's worker reads it while the fiber does not run. Only that
//! worker could resume the fiber, so the frame, and everything that the frames below have borrowed,
//! stays unchanged meanwhile. The same holds for a waker that has claimed the wait, until it
//! enqueues the fiber.
//!
//! # Invariants
//! * NO1. The header's pointer is null, or points to a notice in a live frame of the fiber. The
//!   fiber sets and clears it in `park_on`, and the wait in between does not unwind.
//! * NO2. The data behind a subject outlives the wait, which borrows it throughout. Other code
//!   reaches it meanwhile only under its lock, and so does a report, which gives up after some
//!   attempts: the owner of the lock may be waiting for this thread.

use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::NonNull;
use std::time::Instant;

use super::object::{Describe, Object, ObjectKind};
use super::reason::Reason;
use super::spec::Spec;
use crate::base::backoff::Backoff;
use crate::base::diagnostics_enabled::KEEPS_REPORT_DATA;
use crate::fiber::current;
use crate::fiber::{FiberId, FiberPtr, Header};
use crate::shim::Lock;

/// The description of a wait.
pub(crate) struct Notice<'a> {
    pub(super) spec: &'a Spec,
    pub(super) at: &'static Location<'static>,
    /// The last time at which its worker read the clock, in nanoseconds; 0 on a plain thread.
    pub(super) since: u64,
    pub(super) subject: Option<Subject<'a>>,
}

/// The type-erased object of a wait (NO2).
#[expect(unnameable_types, reason = "seen by reports only")]
#[derive(Copy, Clone)]
pub struct Subject<'a> {
    place: NonNull<()>,
    /// The address that identifies it in reports.
    address: usize,
    /// The caller passes `place`, while the object is there (NO2).
    describe: unsafe fn(NonNull<()>) -> ObjectKind,
    borrowed: PhantomData<&'a ()>,
}

/// The contents of a notice.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) reason: Reason,
    pub(crate) at: &'static Location<'static>,
    pub(crate) since: u64,
    /// The deadline of the wait itself, or of the code around it if that ends the wait too.
    pub(crate) deadline: Option<Instant>,
    pub(crate) subject: Option<Subject<'static>>,
}

impl<'a> Subject<'a> {
    /// Returns the object that `lock` guards.
    pub(crate) fn of<S: Describe>(lock: &'a Lock<S>) -> Subject<'a> {
        Subject {
            place: NonNull::from(lock).cast(),
            address: std::ptr::from_ref(lock).addr(),
            describe: describe_locked::<S>,
            borrowed: PhantomData,
        }
    }

    /// Returns an object without a lock, which only its waiter changes.
    pub(super) fn plain<S: Describe>(what: &'a S) -> Subject<'a> {
        Subject {
            place: NonNull::from(what).cast(),
            address: std::ptr::from_ref(what).addr(),
            describe: describe_plain::<S>,
            borrowed: PhantomData,
        }
    }

    /// Returns the same object, identified by the address of `whole`, which contains the lock.
    pub(crate) fn part_of<T>(self, whole: &'a T) -> Subject<'a> {
        let address = std::ptr::from_ref(whole).addr();
        Subject { address, ..self }
    }

    /// Returns the end of `fiber` as an object.
    pub(crate) fn end_of(fiber: FiberPtr) -> Subject<'static> {
        Subject {
            place: fiber.as_non_null().cast(),
            address: fiber.addr(),
            describe: describe_fiber,
            borrowed: PhantomData,
        }
    }

    /// Returns its address.
    pub(crate) fn address(&self) -> usize {
        self.address
    }

    /// Returns its kind and state, without its name.
    ///
    /// # Safety
    /// Like [`describe`](Self::describe).
    pub(crate) unsafe fn kind(&self) -> ObjectKind {
        // SAFETY: made together with the place; by contract.
        unsafe { (self.describe)(self.place) }
    }

    /// Returns its description.
    ///
    /// # Safety
    /// It still exists and, if it has no lock, no code changes it meanwhile (NO2).
    pub(crate) unsafe fn describe(&self) -> Object {
        // SAFETY: by contract.
        Object::new(unsafe { self.kind() }, self.address())
    }
}

impl std::fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Subject({:#x})", self.address())
    }
}

/// Notifies the runtime of the running fiber, if there is one, that it has closed `channel`.
#[cold]
#[inline(never)]
pub(crate) fn closed(channel: Subject<'_>) {
    if !KEEPS_REPORT_DATA {
        return;
    }
    let local = current::local();
    if let Some(fiber) = local.fiber() {
        let home = fiber.header().home();
        home.saw_close(local, fiber, channel.address());
    }
}

/// Reads the notice of a fiber; none if it does not wait.
///
/// # Safety
/// On the fiber's own worker, while the fiber does not run; by a party that holds it
/// (`StateWord::hold`), or has claimed the parked fiber and has not enqueued it; or by the fiber
/// itself. The subject is used before the fiber runs again.
pub(crate) unsafe fn read(header: &Header) -> Option<Seen> {
    // SAFETY: NO1; the caller keeps the fiber from resuming.
    let notice = unsafe { header.notice().cast::<Notice<'static>>().as_ref() }?;
    let spec = notice.spec;
    let region = header
        .scope()
        .region()
        .filter(|_| spec.accepts.interrupts());
    let limit = region.and_then(|region| region.get().limit());
    Some(Seen {
        reason: spec.reason,
        at: notice.at,
        since: notice.since,
        deadline: spec
            .deadline
            .into_iter()
            .chain(limit.map(|limit| limit.get().at()))
            .min(),
        subject: notice.subject,
    })
}

/// # Safety
/// NO2: `place` is a `Lock<S>`, alive.
unsafe fn describe_locked<S: Describe>(place: NonNull<()>) -> ObjectKind {
    // SAFETY: NO2: by contract.
    let lock = unsafe { place.cast::<Lock<S>>().as_ref() };
    let mut backoff = Backoff::new();
    loop {
        if let Some(state) = lock.try_lock() {
            return state.describe();
        }
        if !backoff.pause() {
            return ObjectKind::Busy;
        }
    }
}

/// # Safety
/// `place` is a header.
unsafe fn describe_fiber(place: NonNull<()>) -> ObjectKind {
    // SAFETY: H1: made of a pointer to a header.
    let header = unsafe { place.cast::<Header>().as_ref() };
    ObjectKind::Fiber {
        id: FiberId::from_number(header.id()),
    }
}

/// # Safety
/// NO2: `place` is an `S`, alive, which does not change meanwhile.
unsafe fn describe_plain<S: Describe>(place: NonNull<()>) -> ObjectKind {
    // SAFETY: NO2: by contract.
    unsafe { place.cast::<S>().as_ref() }.describe()
}

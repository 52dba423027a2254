//! The description of one fiber in a report.
//!
//! Owns: what is read of a header, by which thread, and what that means. Does not own: how the
//! question gets there (`observe::report::snapshot`), the words for what is waited for
//! (`wait::object`), or the text of a dump (`diag`).
//!
//! There are three readers. A worker reads everything in the headers of its own started fibers,
//! which do not run meanwhile. Where fibers may migrate, the asker holds those that are parked, and
//! reads everything of them. Of other fibers, and of the one that an unresponsive worker runs, the
//! asker reads what is constant or atomic.

use std::backtrace::Backtrace;
use std::panic::Location;
use std::time::{Duration, Instant};

use crate::base::clock;
use crate::context;
use crate::fiber::state_names::State;
use crate::fiber::{FiberId, FiberPtr, Header};
use crate::report::cycle::{Link, On};
use crate::wait::Reason;
use crate::wait::object::{Object, ObjectKind};
use crate::wait::wait_info::{self, Subject};

/// A fiber at the time of a report: its state, its wait, its stack and its worker.
///
/// # Examples
/// ```
/// use pirn::diag::Reason;
/// use pirn::spawn::Builder;
///
/// let runtime = pirn::Runtime::builder().workers(1).build()?;
/// runtime.run(|| {
///     let clerk = Builder::new().name("clerk").spawn(pirn::park).unwrap();
///     pirn::yield_now(); // It runs, and parks.
///     let fibers = runtime.fibers();
///     let info = fibers.iter().find(|info| info.name.as_deref() == Some("clerk")).unwrap();
///     assert_eq!(info.reason, Some(Reason::Park));
///     assert_eq!(info.worker, 0);
///     clerk.fiber().unpark();
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct FiberInfo {
    /// Identity of the fiber.
    pub id: FiberId,
    /// Its name, if it has one. Unknown for a fiber of a worker that does not answer.
    pub name: Option<String>,
    /// State of the fiber.
    pub state: State,
    /// Kind of the thing it waits for; `None` if it does not wait.
    pub reason: Option<Reason>,
    /// How long it has waited; zero if it does not. Counted from when its worker had last read the
    /// clock, which it does at least every 61 runs of fibers. So it may be too long by the duration
    /// of those runs. On a [deterministic](crate::runtime::Builder::deterministic) runtime it is
    /// real time too.
    pub since: Duration,
    /// Where it was spawned.
    pub spawned_at: &'static Location<'static>,
    /// The call that it waits in.
    pub waits_at: Option<&'static Location<'static>>,
    /// The object it waits for, if that has a state of its own: a sleep has none.
    pub waits_for: Option<Object>,
    /// When the wait ends by itself.
    pub deadline: Option<Instant>,
    /// Bytes of its stack in use; 0 if unknown.
    pub stack_used: usize,
    /// Bytes of its stack that have been touched: its deepest use so far, in whole pages. A stack
    /// is used again for other fibers, and an earlier one may have been deeper. Only for the fibers
    /// of which [`backtrace`](Self::backtrace)s are taken; 0 if unknown.
    pub stack_touched: usize,
    /// Size of its stack in bytes.
    pub stack_size: usize,
    /// The number of its worker.
    pub worker: usize,
    /// The frames of a fiber that waits, innermost first. Only for some hundred fibers of each
    /// worker, and only on x86-64 Unix; empty under sanitizers.
    pub backtrace: Option<Backtrace>,
    /// The number of its current wait.
    pub(crate) wait: u64,
}

/// A fiber's own record of what it waits for, before the object is read.
pub(crate) struct Sighting {
    pub(crate) info: FiberInfo,
    pub(crate) subject: Option<Subject<'static>>,
}

impl FiberInfo {
    /// Describes a started fiber that does not run, except for the object it waits for; or the one
    /// that runs.
    ///
    /// # Safety
    /// The fiber is in `state`. On its own worker, which runs no other fiber before the result is
    /// dropped; or the caller holds it until then. `off_stack`: no thread is on its stack, or the
    /// caller is.
    pub(crate) unsafe fn sight(
        worker: usize,
        fiber: FiberPtr,
        state: State,
        frames: bool,
        off_stack: bool,
    ) -> Sighting {
        let running = state == State::Running;
        let header = fiber.header();
        let mut info = FiberInfo::known(worker, header);
        info.name = header.name().map(str::to_owned);
        info.wait = header.state.epoch().number();
        // SAFETY: H2: its worker's own, or held by the caller.
        if let Some(stack) = unsafe { &*header.stack() }
            && off_stack
        {
            let range = stack.range();
            info.stack_size = stack.size();
            if frames {
                info.stack_touched = stack.touched();
            }
            // SAFETY: H2, as above.
            let context = unsafe { &*header.context() };
            // SAFETY: only called if the fiber does not run: it is suspended.
            let frame = || unsafe { context.frame() };
            let sp = if running {
                Some(context::stack_pointer())
            } else {
                frame().map(|frame| frame.sp)
            };
            let sp = sp.filter(|sp| range.contains(sp));
            info.stack_used = sp.map_or(0, |sp| range.end - sp);
            let mut look = || info.backtrace = Some(Backtrace::force_capture());
            if frames && running {
                look();
            } else if frames {
                // SAFETY: H2, as above.
                let context = unsafe { &*header.context() };
                // SAFETY: the caller's promise: suspended on that stack, which no thread is on, and not
                // resumed meanwhile.
                unsafe { context::visit(context, range, &mut look) };
            }
        }
        info.state = state;
        if state != State::Parked {
            return Sighting {
                info,
                subject: None,
            };
        }
        // SAFETY: the caller's promise.
        let Some(seen) = (unsafe { wait_info::read(header) }) else {
            info.state = State::Runnable;
            return Sighting {
                info,
                subject: None,
            };
        };
        info.reason = Some(seen.reason);
        info.since = Duration::from_nanos(clock::now().saturating_sub(seen.since));
        info.waits_at = Some(seen.at);
        info.deadline = seen.deadline;
        Sighting {
            info,
            subject: seen.subject,
        }
    }

    /// Describes the fiber that a worker runs that does not answer.
    pub(crate) fn running(worker: usize, fiber: FiberPtr) -> FiberInfo {
        // The fiber may have ended, and another may live in its header, so only
        // what is constant or atomic is read.
        FiberInfo::known(worker, fiber.header())
    }

    /// Describes a started fiber that is not parked. `None` if its joiners have been notified of
    /// its end.
    ///
    /// # Safety
    /// Something keeps it from ending.
    pub(crate) unsafe fn active(
        worker: usize,
        fiber: FiberPtr,
        runs: bool,
    ) -> Option<FiberInfo> {
        let header = fiber.header();
        if header.join.lock().done {
            return None;
        }
        let mut info = FiberInfo::known(worker, header);
        info.name = header.name().map(str::to_owned);
        if !runs {
            info.state = State::Runnable;
        }
        Some(info)
    }

    /// Returns what any thread may read of any header.
    fn known(worker: usize, header: &Header) -> FiberInfo {
        FiberInfo {
            id: FiberId::of_number(header.id()),
            name: None,
            state: State::Running,
            reason: None,
            since: Duration::ZERO,
            spawned_at: header.location(),
            waits_at: None,
            waits_for: None,
            deadline: None,
            stack_used: 0,
            stack_touched: 0,
            stack_size: 0,
            worker,
            backtrace: None,
            wait: 0,
        }
    }
}

/// Returns which fiber a parked fiber waits for, if it waits for one.
///
/// # Safety
/// As [`FiberInfo::sight`].
pub(crate) unsafe fn link(fiber: FiberPtr) -> Option<Link> {
    let header = fiber.header();
    // SAFETY: the caller's promise.
    let seen = unsafe { wait_info::read(header) }?;
    let subject = seen.subject.filter(|_| seen.deadline.is_none())?;
    let waits_for_one = matches!(
        seen.reason,
        Reason::Mutex | Reason::RwLock | Reason::Join | Reason::Run | Reason::Scope
    );
    if !waits_for_one {
        return None;
    }
    // SAFETY: NO2: the fiber still waits.
    let on = match unsafe { subject.kind() } {
        ObjectKind::Mutex { holder, .. } => On::Fiber(holder?.number()),
        ObjectKind::RwLock { writer, .. } => On::Fiber(writer?.number()),
        ObjectKind::Fiber { id } => On::Fiber(id?.number()),
        ObjectKind::Scope { .. } => On::Scope(subject.address()),
        _ => return None,
    };
    Some(Link {
        id: header.id(),
        wait: header.state.epoch().number(),
        scope: scope_of(header),
        on,
    })
}

/// True if a started fiber that does not run waits. On its own worker.
pub(crate) fn waits(fiber: FiberPtr) -> bool {
    fiber.header().state.is_parked()
}

/// Returns the address of the scope that the fiber is a child of, or 0.
fn scope_of(header: &Header) -> usize {
    header.on_end().map_or(0, |hook| hook.data.addr())
}

/// Returns the reason for which a fiber waits, if it does.
///
/// # Safety
/// The fiber does not run, and only the caller could let it run.
pub(crate) unsafe fn reason(fiber: FiberPtr) -> Option<Reason> {
    let header = fiber.header();
    // SAFETY: NO1: the caller's promise.
    unsafe { wait_info::read(header) }.map(|seen| seen.reason)
}

/// The wait of a fiber.
#[derive(Debug, Copy, Clone)]
pub(crate) struct Waiting {
    pub(crate) reason: Reason,
    /// The address of the object, if it has a state.
    pub(crate) on: Option<usize>,
}

/// Returns what a fiber waits for, or has waited for until it was claimed; `None` if it does
/// neither.
///
/// # Safety
/// The fiber does not run, and only the caller could let it run: the caller is its worker, or has
/// claimed its wait and not enqueued it yet.
pub(crate) unsafe fn waiting(fiber: FiberPtr) -> Option<Waiting> {
    let header = fiber.header();
    // SAFETY: NO1: the caller's promise.
    let seen = unsafe { wait_info::read(header) }?;
    Some(Waiting {
        reason: seen.reason,
        on: seen.subject.map(|subject| subject.address()),
    })
}

/// Returns the state of a started fiber, and its reason to wait.
///
/// # Safety
/// As [`FiberInfo::sight`].
pub(crate) unsafe fn doing(fiber: FiberPtr, state: State) -> (State, Option<Reason>) {
    if state != State::Parked {
        return (state, None);
    }
    let header = fiber.header();
    // SAFETY: the caller's promise.
    match unsafe { wait_info::read(header) } {
        Some(seen) => (state, Some(seen.reason)),
        None => (State::Runnable, None),
    }
}

//! What every fiber does, as text.

use std::fmt;
use std::io::{self, Write};

use super::frames::Frames;
use crate::runtime::Handle;
use crate::sched::fiber_info::{FiberInfo, State};
use crate::sched::pool::Pool;
use crate::sched::registry;
use crate::sched::roll::WorkerInfo;

/// Writes the workers, queues and fibers of every runtime, with what each fiber waits for, for
/// people to read; see [`fibers`](super::fibers()) for what it can and cannot show.
///
/// # Errors
/// Those of `w`.
///
/// # Cancellation
/// Not an interruption point; never suspends, unless `w` does.
///
/// # Blocking
/// As [`fibers`](super::fibers()); and names of functions are looked up in the program's file,
/// which takes milliseconds, tens of them the first time.
pub fn dump(w: &mut dyn Write) -> io::Result<()> {
    registry::pools().iter().try_for_each(|pool| {
        let pool = Handle::of(std::sync::Arc::clone(pool));
        pool.dump(w)
    })
}

impl Handle {
    /// Writes the workers, queues and fibers of this runtime, as
    /// [`diag::dump`](crate::diag::dump()).
    ///
    /// # Errors
    /// Those of `w`.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends, unless `w` does.
    ///
    /// # Blocking
    /// As [`diag::dump`](crate::diag::dump()).
    pub fn dump(&self, w: &mut dyn Write) -> io::Result<()> {
        let pool = self.pool();
        let roll = pool.call_roll();
        let started: usize = roll.workers.iter().map(|worker| worker.fibers.len()).sum();
        writeln!(
            w,
            "runtime '{}': {} of {} workers started, {started} fibers started, \
             {} in the injector, {} without a stack",
            pool.name(),
            roll.workers.len(),
            pool.workers(),
            pool.injected(),
            pool.starved(),
        )?;
        roll.workers
            .iter()
            .try_for_each(|worker| tell_worker(w, pool, worker))
    }
}

fn tell_worker(w: &mut dyn Write, pool: &Pool, worker: &WorkerInfo) -> io::Result<()> {
    let WorkerInfo {
        worker: index,
        answered,
        fibers,
        ready,
        fresh,
    } = worker;
    if *answered {
        let started = fibers.len();
        writeln!(
            w,
            "  worker {index}: {started} fibers, {ready} ready, {fresh} fresh"
        )?;
    } else {
        let settled = pool.settled(*index);
        writeln!(
            w,
            "  worker {index}: does not answer; {settled} fibers, {fresh} fresh, it runs"
        )?;
    }
    fibers
        .iter()
        .try_for_each(|fiber| write!(w, "{}", Entry(fiber)))
}

/// One fiber's paragraph.
pub(super) struct Entry<'a>(pub(super) &'a FiberInfo);

impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fiber = self.0;
        let name = fiber.name.as_deref().unwrap_or("unnamed");
        write!(f, "    fiber {} '{name}' ", fiber.id)?;
        match fiber.state {
            State::Running => write!(f, "runs")?,
            State::Ready => write!(f, "is ready")?,
            State::Parked => write!(f, "waits for {:.1?}", fiber.since)?,
        }
        if let Some(reason) = fiber.reason {
            write!(f, " ({reason:?})")?;
        }
        if let Some(at) = fiber.waits_at {
            write!(f, " at {at}")?;
        }
        write!(f, ", spawned at {}", fiber.spawned_at)?;
        if fiber.stack_size > 0 {
            let (used, size) = (fiber.stack_used, fiber.stack_size);
            write!(f, ", {used} of {size} bytes of stack")?;
        }
        writeln!(f)?;
        if let Some(object) = &fiber.waits_for {
            writeln!(f, "      for {object}")?;
        }
        if fiber.deadline.is_some() {
            writeln!(f, "      with a time limit")?;
        }
        match &fiber.backtrace {
            Some(backtrace) => write!(f, "{}", Frames(backtrace)),
            None => Ok(()),
        }
    }
}

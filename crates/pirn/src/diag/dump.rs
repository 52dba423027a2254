//! A text report of all fibers and their waits.

use std::io::{self, Write};

use crate::base::name::Name;
use crate::fiber::thread_registry::{self, Sleep};
use crate::observe::report::{self, WorkerInfo};
use crate::runtime::Handle;
use crate::sched::pool::registry;
use crate::sched::pool::shared::Pool;

/// Writes the workers, queues and fibers of every runtime, with what each fiber waits for, as text
/// for humans. See [`fibers`](super::fibers()) for the limits of such a report.
///
/// # Errors
/// Errors of `w`.
///
/// # Cancellation
/// Not an interruption point; never suspends, unless `w` does.
///
/// # Blocking
/// Like [`fibers`](super::fibers()). Names of functions are also looked up in the program's file,
/// which takes milliseconds, and tens of them the first time.
///
/// # Examples
/// ```
/// let mut text = Vec::new();
/// pirn::run(|| pirn::diag::dump(&mut text))?;
/// assert!(String::from_utf8_lossy(&text).contains("runtime 'pirn'"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn dump(w: &mut dyn Write) -> io::Result<()> {
    registry::pools().iter().try_for_each(|pool| {
        let pool = Handle::of(std::sync::Arc::clone(pool));
        pool.dump(w)
    })?;
    thread_registry::plain_threads()
        .iter()
        .try_for_each(|plain_thread| {
            let name = Name(plain_thread.name.as_deref().unwrap_or("unnamed"));
            let how = match plain_thread.sleep {
                Sleep::None => "does not wait here",
                Sleep::Timed => "waits with a time limit",
                Sleep::Endless => "waits",
            };
            writeln!(w, "thread {} '{name}' {how}", plain_thread.id)
        })
}

impl Handle {
    /// Writes the workers, queues and fibers of this runtime, like
    /// [`diag::dump`](crate::diag::dump()).
    ///
    /// # Errors
    /// Errors of `w`.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends, unless `w` does.
    ///
    /// # Blocking
    /// Like [`diag::dump`](crate::diag::dump()).
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().name("web").workers(1).build()?;
    /// let mut text = Vec::new();
    /// runtime.dump(&mut text)?;
    /// assert!(String::from_utf8_lossy(&text).starts_with("runtime 'web'"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn dump(&self, w: &mut dyn Write) -> io::Result<()> {
        let pool = self.pool();
        let snapshot = report::describe_all(pool);
        let started: usize = snapshot
            .workers
            .iter()
            .map(|worker| worker.fibers.len())
            .sum();
        writeln!(
            w,
            "runtime '{}': {} of {} workers started, {started} fibers started, \
             {} in the injector, {} without a stack",
            Name(pool.name()),
            snapshot.workers.len(),
            pool.workers(),
            pool.injected(),
            pool.stack_waiters(),
        )?;
        writeln!(w, "  stacks: {}", self.stack_use())?;
        snapshot
            .workers
            .iter()
            .try_for_each(|worker| write_worker(w, pool, worker))
    }
}

fn write_worker(w: &mut dyn Write, pool: &Pool, worker: &WorkerInfo) -> io::Result<()> {
    let WorkerInfo {
        worker: index,
        answered,
        fibers,
        ready,
        fresh,
        silent,
        others,
        ..
    } = worker;
    let left_out: usize = others.iter().map(|(_, _, fibers)| fibers).sum();
    if *answered {
        let started = fibers.len() + left_out;
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
    if let Some(silent) = silent {
        writeln!(
            w,
            "    for {} ms so far, {ready} are ready behind it",
            silent.as_millis()
        )?;
    }
    fibers.iter().try_for_each(|fiber| write!(w, "{fiber}"))?;
    if *answered && left_out > 0 {
        writeln!(w, "    and {left_out} more, for which there was no time")?;
    }
    Ok(())
}

//! Polling a future where one calls, and parking between polls.

use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::wait::agenda::Desk;
use crate::wait::alarm::Alarm;
use crate::wait::polling::{refuse_in_poll, within_own};
use crate::wait::{Interrupt, Reason, Spec, interrupted, now, spend};

/// Waits for `future`, and returns what it yields.
///
/// The future lies on the stack of the caller, who polls it and nobody else, so it may borrow, and need
/// not be `Send` (on a runtime with [free migration](crate::runtime::Builder::free_migration) it must be: the
/// fiber takes it along). Its waker may be used from any thread, any number of times, also when all
/// is over. A future that wakes itself at each poll lets others run now and then.
///
/// What a poll calls has its frames on a stack that the worker has for the polls of all of its fibers, as large as theirs;
/// so fibers that wait for futures touch little of their own. A fiber with a
/// [`stack_size`](crate::spawn::Builder::stack_size) of its own polls on its own stack.
///
/// It knows nothing of what a future needs besides polls: those of a runtime of its own, as tokio's
/// timers and sockets, need that runtime's context.
///
/// # Errors
/// The interrupt that the caller is under. The future has been dropped then, perhaps without a poll.
///
/// # Panics
/// If the future does. On a fiber, inside the poll of another future (see [the module](crate::future)).
///
/// # Cancellation
/// An interruption point: before the first poll and between polls. Parks a fiber, blocks a plain thread.
///
/// # Examples
/// ```
/// use std::future::ready;
///
/// pirn::run(|| {
///     let sum = pirn::future::wait(async { ready(1).await + ready(2).await })?;
///     assert_eq!(sum, 3);
///     Ok::<(), pirn::Interrupt>(())
/// })
/// .unwrap();
/// ```
#[track_caller]
pub fn wait<F: Future>(future: F) -> Result<F::Output, Interrupt> {
    let spec = Spec::interruptible(Reason::Future);
    drive(future, &spec.at(Location::caller()))
}

/// Like [`wait()`], though the caller be interrupted.
///
/// # Panics
/// Like [`wait()`].
///
/// # Cancellation
/// Not an interruption point: for ever, if the future never yields. Parks a fiber, blocks a plain
/// thread.
///
/// # Examples
/// From a plain thread:
/// ```
/// assert_eq!(pirn::future::block_on(async { 6 * 7 }), 42);
/// ```
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let spec = Spec::of(Reason::Future);
    match drive(future, &spec.at(Location::caller())) {
        Ok(output) => output,
        Err(_) => unreachable!("no interrupt ends this wait"),
    }
}

#[track_caller]
fn drive<F: Future>(future: F, spec: &Spec) -> Result<F::Output, Interrupt> {
    refuse_in_poll();
    let alarm = Arc::new(Alarm::new());
    let waker = Waker::from(Arc::clone(&alarm));
    let mut context = Context::from_waker(&waker);
    // Before the future, and so dropped after it.
    let desk = Desk::default();
    let mut future = pin!(future);
    loop {
        spend();
        if spec.accepts.interrupts()
            && let Some(interrupt) = interrupted()
        {
            return Err(interrupt);
        }
        // UNWIND: the poll is left on the way out.
        let poll = within_own(&desk, || future.as_mut().poll(&mut context));
        if let Poll::Ready(output) = poll {
            return Ok(output);
        }
        match desk.first() {
            None => alarm.wait(spec)?,
            // Also when the future wakes itself in every poll.
            Some(_) if desk.call_due(now()) => {}
            due => {
                alarm.wait(&spec.until(due))?;
                desk.call_due(now());
            }
        }
    }
}

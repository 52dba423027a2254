//! Polling a future on the calling fiber or thread, which parks between polls.

use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::base::choice::Operation;
use crate::wait::poll_timers::{PollTimersSlot, within_own};
use crate::wait::poll_waker::PollWaker;
use crate::wait::polling::refuse_in_poll;
use crate::wait::{Interrupt, Reason, Spec, consume_budget, interrupted, now};

/// Waits for `future` and returns its output.
///
/// The future lies on the caller's stack and only the caller polls it, so it may borrow and need
/// not be `Send`. With [free migration](crate::runtime::Builder::free_migration) it must be `Send`,
/// since the fiber carries it to other threads. Its waker may be used from any thread, any number
/// of times, also after the end. A future that wakes itself at each poll lets other fibers run now
/// and then.
///
/// The frames of a poll lie on a stack that the worker shares among the polls of all its fibers, as
/// large as theirs. So fibers that wait for futures touch little of their own stacks. A fiber with
/// its own [`stack_size`](crate::spawn::Builder::stack_size) polls on its own stack.
///
/// This function only polls. Futures that need the context of their own runtime, such as tokio's
/// timers and sockets, do not get it here.
///
/// # Errors
/// The caller's interrupt. The future has been dropped then, possibly without a poll.
///
/// # Panics
/// If the future does. On a fiber, also inside the poll of another future (see [the
/// module](crate::future)).
///
/// # Cancellation
/// An interruption point: before the first poll and between polls. Parks a fiber, blocks a plain
/// thread.
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
#[doc(alias = "await")]
#[track_caller]
pub fn wait<F: Future>(future: F) -> Result<F::Output, Interrupt> {
    let spec = Spec::interruptible(Reason::Future);
    drive(future, &spec.at(Location::caller()))
}

/// Waits for `future` and returns its output, regardless of interrupts. Otherwise like [`wait()`].
///
/// # Panics
/// Like [`wait()`].
///
/// # Cancellation
/// Not an interruption point: blocks indefinitely if the future never yields. Parks a fiber, blocks
/// a plain thread.
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
    let alarm = Arc::new(PollWaker::new());
    let waker = Waker::from(Arc::clone(&alarm));
    let mut context = Context::from_waker(&waker);
    // Declared before the future, so that it is dropped after it.
    let timers = PollTimersSlot::default();
    let mut future = pin!(future);
    loop {
        consume_budget(Operation::Poll, 0);
        if spec.accepts.interrupts()
            && let Some(interrupt) = interrupted()
        {
            return Err(interrupt);
        }
        // UNWIND: an unwind leaves the poll.
        let poll = within_own(&timers, || future.as_mut().poll(&mut context));
        if let Poll::Ready(output) = poll {
            return Ok(output);
        }
        match timers.first() {
            None => alarm.wait(spec)?,
            // Also when the future wakes itself in every poll.
            Some(_) if timers.call_due(now()) => {}
            due => {
                alarm.wait(&spec.until(due))?;
                timers.call_due(now());
            }
        }
    }
}

//! Waiting until nothing more can be sent: the protocol of all kinds of channels.
//!
//! A channel is *over* while a send would fail: it is closed, or no receiver exists. A watch or a
//! broadcast channel that is over for the lack of receivers continues with the next `subscribe`.
//!
//! | state | parties that wait for the end |
//! |---|---|
//! | open | join `closing`, under the channel's lock |
//! | over | none joins; the call that ended the channel wakes all that have joined |
//!
//! # Invariants
//! * CL1. A waiter joins `closing` only in a critical section that finds the channel open.
//! * CL2. A call that changes the channel from open to over then claims all waiters in `closing`,
//!   after it has released the lock: by `wake_closing`, or by `Shared::wake_all_parties` for a
//!   channel that never reopens. It may skip that if it has seen in that critical section that
//!   `closing` is empty.
//!
//! LIVENESS: if the waiter joins first, the call finds it in the queue. If the call comes first,
//! the waiter finds the channel over. If a `subscribe` comes between the call and its wakes, the
//! channel is open: waiters not claimed yet stay in the queue for the next end. `wake_closing`
//! terminates: it claims only while the channel is over, and then none joins.

use crate::base::choice::Operation;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::wait::object::Describe;
use crate::wait::{Attempt, Interrupt, Reason, Spec, Waited, begin, wait_in, wake_all};

/// The state under the lock of a channel, as a party that waits for the end sees it.
pub(in crate::channel) trait Closing: Describe {
    /// Returns whether a send would fail now.
    fn is_over(&self) -> bool;

    /// Returns the queue of parties that wait until the channel is over (CL1).
    fn closing(&mut self) -> &mut WaitQueue<()>;
}

/// Waits until the channel is over.
#[track_caller]
pub(in crate::channel) fn wait_closed<S: Closing>(
    channel: &Lock<S>,
) -> Result<(), Interrupt> {
    begin(Operation::Wait, (&raw const *channel).addr())?;
    // After a wake the channel may be open again, by a `subscribe`.
    loop {
        let waited = wait_in(
            channel,
            S::closing,
            &Spec::interruptible(Reason::Closed),
            |state| {
                if state.is_over() {
                    Attempt::Done(())
                } else {
                    Attempt::Wait(())
                }
            },
        );
        match waited {
            Waited::Done(()) => return Ok(()),
            Waited::Ended(how, ()) => {
                if let Some(interrupt) = how.interrupt() {
                    return Err(interrupt);
                }
            }
        }
    }
}

/// Wakes all waiters in `closing`; stops if a `subscribe` opens the channel again (CL2).
pub(in crate::channel) fn wake_closing<S: Closing>(channel: &Lock<S>) {
    wake_all(channel, |state| {
        if state.is_over() {
            state.closing().claim_first(|_| ())
        } else {
            None
        }
    });
}

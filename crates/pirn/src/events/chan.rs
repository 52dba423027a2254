//! The output of `PIRN_LOG=chan`: a fiber is enqueued in a channel, signalled, dequeued; a channel
//! is closed.
//!
//! Owns: which step of a fiber in a channel an event of a worker is, and its text. Does not own:
//! the hooks, which see those events anyway. So waiting in a channel costs nothing more where
//! nothing is logged.
//!
//! A fiber that is claimed before it has parked takes none of these steps: it did not wait. Nor
//! does a thread that is no worker.

use std::fmt;

use super::event::Kind;
use super::log::{Origin, log};
use super::mask::LogMask;
use crate::fiber::FiberPtr;
use crate::fiber::state::Code;
use crate::report::fiber_info::{self, Waiting};
use crate::wait::Reason;

/// A step of a fiber that waits in a channel.
struct Step {
    fiber: u64,
    what: What,
    waiting: Waiting,
}

/// Which step it is.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
enum What {
    /// It has parked: it is in the queue of the channel, or of several.
    Enqueued,
    /// The other side has ended its wait.
    Signalled,
    /// It resumes, and is in no queue any more.
    Dequeued(Code),
}

/// Logs the step of `fiber` in a channel that this event is, if it is one.
///
/// The caller holds the fiber: it has just left its stack on this worker, is about to resume, or
/// has been claimed by this worker.
#[cold]
pub(super) fn log_step(origin: Origin<'_>, kind: Kind, fiber: FiberPtr) {
    // SAFETY: H2: the party that records an event has the fiber, as above.
    let Some(waiting) = (unsafe { fiber_info::waiting(fiber) }) else {
        return;
    };
    let code = fiber.header().state.code();
    let what = match kind {
        Kind::Park => What::Enqueued,
        Kind::Wake if is_a_case(code) => What::Signalled,
        Kind::Run => What::Dequeued(code),
        _ => return,
    };
    if is_of_a_channel(waiting.reason) {
        let fiber = fiber.header().id();
        let step = Step {
            fiber,
            what,
            waiting,
        };
        log_chan(origin, format_args!("{step}"));
    }
}

/// Logs that `fiber` has closed the channel at this address.
pub(super) fn log_close(origin: Origin<'_>, fiber: FiberPtr, channel: usize) {
    let fiber = fiber.header().id();
    log_chan(
        origin,
        format_args!("fiber {fiber} closes channel {channel:#x}"),
    );
}

fn log_chan(origin: Origin<'_>, what: fmt::Arguments<'_>) {
    let Origin { runtime, worker } = origin;
    log(LogMask::CHAN, runtime, format_args!("-{worker} {what}"));
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            What::Enqueued => "enqueued",
            What::Signalled => "signalled",
            What::Dequeued(_) => "dequeued",
        };
        let reason = self.waiting.reason;
        write!(f, "fiber {} is {what} ({reason:?}", self.fiber)?;
        // A select waits in several channels.
        if let Some(channel) = self.waiting.on
            && reason != Reason::Select
        {
            write!(f, ", channel {channel:#x}")?;
        }
        f.write_str(")")?;
        match self.what {
            What::Dequeued(Code::TIMED_OUT) => f.write_str(": timed out"),
            What::Dequeued(Code::CANCELLED) => f.write_str(": interrupted"),
            _ => Ok(()),
        }
    }
}

/// True if the wait was ended by the other side, not by its deadline or an interrupt.
fn is_a_case(code: Code) -> bool {
    ![Code::TIMED_OUT, Code::CANCELLED, Code::TOKEN, Code::RETRY].contains(&code)
}

fn is_of_a_channel(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Send
            | Reason::Recv
            | Reason::Oneshot
            | Reason::Broadcast
            | Reason::Watch
            | Reason::Select
            | Reason::Closed
    )
}

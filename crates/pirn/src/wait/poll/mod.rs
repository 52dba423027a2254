//! Waits of futures, and the polls of futures by fibers.

pub(crate) mod awaiting;
#[expect(unsafe_code, reason = "a header that stands for a future")]
mod future_waiter;
mod poll_stack;
#[expect(
    unsafe_code,
    reason = "the timers of a poll are in the frame of the poller"
)]
pub(crate) mod poll_timers;
pub(crate) mod poll_waker;
pub(crate) mod polling;

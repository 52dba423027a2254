//! Fibers that may change threads: the queues that workers share, and the switch.

pub(super) mod migration;
#[expect(unsafe_code, reason = "timers and lists behind locks")]
pub(super) mod shared_queues;
#[expect(unsafe_code, reason = "switches to fibers that came out of a queue")]
pub(super) mod switch;

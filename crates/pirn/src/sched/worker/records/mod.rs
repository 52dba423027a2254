//! The state that the parts of a worker's loop keep from step to step. No record refers to the
//! worker.

pub(in crate::sched) mod intervals;
pub(in crate::sched) mod joins;
pub(in crate::sched) mod maintenance;
#[expect(
    unsafe_code,
    reason = "fields that only the worker's own thread reaches"
)]
pub(in crate::sched) mod queues;
pub(in crate::sched) mod role;
pub(in crate::sched) mod search;
pub(in crate::sched) mod steal_payoff;

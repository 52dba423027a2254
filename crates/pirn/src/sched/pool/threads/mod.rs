//! Records of a pool's threads. When a thread starts, ends or is woken is decided elsewhere
//! (`sched::policy`).

pub(crate) mod decisions;
pub(in crate::sched) mod duty;
pub(in crate::sched) mod monitor;
pub(in crate::sched) mod thread_list;
pub(in crate::sched) mod worker_thread;

//! What is known of threads that are no workers, for whoever looks for deadlocks: which of them
//! wait here, which may still wake somebody, and a bell that tells that something has changed.
//!
//! Owns: the register of plain threads, and the word that says whether anybody watches. Does not
//! own: the watching (`sched::watch`).
//!
//! Under a model checker nobody watches: a watcher's sleep is real time.

#[cfg_attr(any(loom, shuttle), path = "none.rs")]
#[cfg_attr(
    not(any(loom, shuttle)),
    expect(unsafe_code, reason = "a thread's mark lies in its header's payload")
)]
mod live;

pub(crate) use live::{
    Hope, Sleep, attend, await_change, enter, external, externals, hope_for, hopes,
    leave, persons, rest, resters, stop, waiting,
};

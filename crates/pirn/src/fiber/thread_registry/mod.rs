//! Registry of non-worker threads for the deadlock detector: which are blocked in this library,
//! which may still wake a fiber, and the detector's bell, which rings after a change.
//!
//! Owns: the registry of plain threads, and the word that says whether there is a watcher. Does not
//! own: the watching (`observe::deadlock::detector`).
//!
//! In a model there is no watcher: its sleep takes real time.

#[cfg_attr(pirn_modelled, path = "none.rs")]
#[cfg_attr(
    not(pirn_modelled),
    expect(unsafe_code, reason = "a thread's mark lies in its header's payload")
)]
mod live;

pub(crate) use live::{
    ExternalWaker, Sleep, attend, await_change, enter, external, externals,
    has_external_wakers, idle_service_threads, leave, plain_threads,
    register_external_waker, rest, stop, waiting,
};

//! Events from the system when a socket becomes readable or writable.
//!
//! Owns: the switch that selects how the system is asked (epoll on Linux, the crate `polling`
//! elsewhere and with `--cfg pirn_polling`; wires that a model controls under the model checkers),
//! and the poller of one thread ([`Driver`]). Does not own: sources and their waiters
//! (`readiness`), or when a thread polls (`sched`).
//!
//! All pollers are edge-triggered: an event reports that something has changed since the last one,
//! and the first comes right after a source was added. Events may report too much, also of sources
//! that have been removed since; never too little.

#[cfg(all(target_os = "linux", not(any(pirn_modelled, pirn_polling))))]
#[path = "epoll.rs"]
mod platform;

#[cfg(all(unix, any(not(target_os = "linux"), pirn_polling), not(pirn_modelled)))]
#[path = "portable.rs"]
#[expect(unsafe_code, reason = "sources that stay open until they are removed")]
mod platform;

#[cfg(any(pirn_modelled, not(unix)))]
#[path = "modelled.rs"]
mod platform;

#[cfg(all(
    feature = "io_uring",
    target_os = "linux",
    not(any(pirn_modelled, pirn_polling))
))]
mod bell;
mod driver;
mod event;

pub(crate) use driver::Driver;
pub(crate) use event::Event;
#[cfg(all(test, pirn_parts))]
pub(crate) use platform::Wire;
pub(crate) use platform::{Events, REPORTS_CLOSED, RawSource};

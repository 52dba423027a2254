//! Being told by the system when a socket can be read from or written to.
//!
//! Owns: the door that picks how the system is asked (epoll on Linux, the crate
//! `polling` elsewhere, and wherever `--cfg pirn_polling` asks for it; wires that a model pulls under
//! the model checkers), and the poller of one thread ([`Driver`]). Does not own: what a source
//! is, and who waits for it (`readiness`), or when a thread asks (`sched`).
//!
//! All pollers are edge-triggered: an event says that something has changed since the
//! last one, and the first comes right after a source was added. Whoever asks may be told of more
//! than there is, and of sources that have been removed since; never of less.

#[cfg(all(target_os = "linux", not(any(loom, shuttle, pirn_polling))))]
#[path = "epoll.rs"]
#[expect(unsafe_code, reason = "epoll and eventfd")]
mod door;

#[cfg(all(
    unix,
    not(all(target_os = "linux", not(pirn_polling))),
    not(any(loom, shuttle))
))]
#[path = "portable.rs"]
#[expect(unsafe_code, reason = "sources that stay open until they are removed")]
mod door;

#[cfg(any(loom, shuttle, not(unix)))]
#[path = "modelled.rs"]
mod door;

#[cfg(all(
    feature = "io_uring",
    target_os = "linux",
    not(any(loom, shuttle, pirn_polling))
))]
mod bell;
mod driver;
mod event;

#[cfg(any(all(loom, test), shuttle))]
pub(crate) use door::Wire;
pub(crate) use door::{Events, RawSource, TELLS_CLOSED};
pub(crate) use driver::Driver;
pub(crate) use event::Event;

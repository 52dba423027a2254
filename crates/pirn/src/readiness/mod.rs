//! Readiness of sockets, and the queues of their waiters.
//!
//! Owns: the known readiness of each source, the queues of its waiters, and the driver that it is
//! in. Does not own: how the system is asked (`sys::poller`), when a worker asks (`sched`), or the
//! operations on a socket (`net`).
//!
//! The life of an operation: if the source is thought to be ready, the operation is tried. If it
//! would have to wait, or has taken all there was, the source is marked as not ready, unless an
//! event has come since before the attempt. An operation that has to wait registers the source with
//! the driver of its own worker, joins a queue, and parks. The worker fetches events between
//! dispatches and instead of sleeping, and wakes the waiters of each event. A future that has to
//! wait registers its task's waker in place of joining.
//!
//! # The word of a source
//!
//! | bits | meaning |
//! |---|---|
//! | READ, WRITE | an attempt may succeed |
//! | READ_CLOSED, WRITE_CLOSED | the end was reached: no further event may come |
//! | URGENT | reads end early at urgent data, so a short read does not mean empty |
//! | the rest | the number of events so far |
//!
//! | change | by | how |
//! |---|---|---|
//! | set bits, count one up | the thread that has fetched an event | under the lock of the queues |
//! | clear READ or WRITE | an operation that has failed to complete, or emptied the source (unless it is closed or URGENT) | compare-exchange with the word as it was *before* the attempt |
//! | back to READ and WRITE | the source that frees the site, or takes it | under the lock, with a new generation |
//!
//! # Why no wake is lost
//! * Pollers are edge-triggered: any change after a failed attempt makes an event, and adding a
//!   source makes an event for its current readiness. So it is enough that no event is lost.
//! * An event that is delivered before the clearing has changed the count, so the clearing fails,
//!   and the operation is tried again. One that is delivered later sets the bit again.
//! * A waiter checks the bit and joins the queue under the lock. An event sets the bit under the
//!   lock and then claims the waiters in the queue. One of the two sees the other. The same holds
//!   for wakers that are registered and taken.
//! * All waiters of the same side are woken: one event may stand for several connections, and a
//!   woken waiter may be interrupted before it has tried.
//! * Every event is fetched: a source is in the driver of the one worker with fibers that wait for
//!   it. If several workers have waiters, it is in the common driver (`common`), which has its own
//!   thread. Where fibers may migrate from a stuck worker, the monitor fetches in its place. A
//!   worker that ends moves its sources to the common driver.
//!
//! # Tasks
//! Each side has a slot for one waker, that of the last task that has polled it. A dropped future
//! does not deregister, so more slots would fill up. A leftover waker is called once without
//! effect, or dropped with the generation. Until then it counts as a waiter, also for the deadlock
//! detector.
//!
//! # Sites
//! A source's record is a *site* in a table that only grows. Events name it by number and
//! generation. So an event that was fetched before its source was dropped finds another generation,
//! or no source. (An event that is late by 2^32 generations would cause one spurious wake.)
//!
//! # Models
//! The models of one protocol explore sites and sources as they are (`tests::model_site`), and
//! numbers of descriptors (`tests::model_number`). The
//! table and the common driver are separate for each run there (`shim::run_static`). The models of
//! the whole runtime have them, too.
//!
//! Lock order: the lock of a site's home, then that of its queues, or the poller's; then nothing.

mod common;
mod driver_sources;
mod interest;
#[cfg(target_os = "linux")]
#[cfg_attr(
    pirn_modelled,
    allow(
        dead_code,
        unreachable_pub,
        reason = "for models, and for `pirn-hooks`"
    )
)]
mod number;
mod site;
mod sites;
mod source;
mod table;
// Used by `net`, which models do not contain.
#[cfg(all(unix, not(pirn_modelled)))]
mod watching;

#[cfg(pirn_modelled)]
pub(crate) use common::{ask as ask_common, ring as ring_common};
pub(crate) use driver_sources::{awaits, evacuate};
pub use interest::Interest;
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
pub use number::{Known, Number, NumberWait};
pub(crate) use sites::ever;
pub(crate) use source::{Source, timed_out};
pub(crate) use table::{has_waiters, notify_all};
#[cfg(all(unix, not(pirn_modelled)))]
pub(crate) use watching::Watching;

#[cfg(test)]
mod tests;

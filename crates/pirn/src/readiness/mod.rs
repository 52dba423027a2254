//! Which sockets are ready, and who waits for them.
//!
//! Owns: what is known of each source, the queues of those who wait for it, and in whose driver
//! it is. Does not own: how the system is asked (`sys::poller`), when a worker asks (`sched`), or
//! what is done with a socket (`net`).
//!
//! The life of an operation: if the source is thought to be ready, it is tried. If it would
//! have to wait, or has taken all there was, the source is noted to be not ready, unless an event
//! has come since before the attempt; and whoever has to wait sees to it that the source is in
//! the driver of its own worker, joins a queue, and parks. The worker asks the system between
//! dispatches and instead of sleeping, and wakes whoever an event is for. A future that has to wait
//! leaves the waker of its task in place of joining.
//!
//! # The word of a source
//!
//! | bits | meaning |
//! |---|---|
//! | READ, WRITE | trying may be of use |
//! | READ_CLOSED, WRITE_CLOSED | it has ended: no further event may come of it |
//! | URGENT | reads stop short of something, so that they have not emptied it |
//! | the rest | how many events have come |
//!
//! | change | by | how |
//! |---|---|---|
//! | set bits, count one up | who has fetched an event | under the lock of the queues |
//! | clear READ or WRITE | who has tried in vain, or emptied it (unless it is closed or URGENT) | compare-exchange with the word as it was *before* the attempt |
//! | back to READ and WRITE | who gives the site back, or takes it | under the lock, with a new generation |
//!
//! # Why no wake is lost
//! * Pollers are edge-triggered: whatever changes after an attempt has failed makes an event, and
//!   adding a source makes one of all that it is ready for. So it is enough that no event is
//!   forgotten.
//! * An event that is told before the clearing has changed the count, so the clearing fails, and the
//!   operation is tried again. One that is told later sets the bit again.
//! * Whoever waits joins the queue under the lock after a look at the bit, and an event sets the bit
//!   under the lock and then claims who is in the queue: one of the two sees the other. The same holds of
//!   wakers that are left and taken.
//! * All that wait for the same side are woken: one event may stand for several connections, and
//!   who was woken may be interrupted before it has tried.
//! * Somebody fetches the events: a source is in the driver of the one worker whose fibers wait for it,
//!   or in the common one (`common`), which has a thread of its own, if those of several do. Where fibers
//!   may migrate from a worker that is stuck, the monitor asks in its place. A worker that ends moves
//!   its sources to the common driver.
//!
//! # Tasks
//! Each side has room for one waker, that of the last task that has polled it: a future that is dropped
//! says nothing, so more of them would pile up. One that is left behind is called in vain, once,
//! or dropped with the generation; until then it passes for somebody who waits, also where deadlocks
//! are looked for.
//!
//! # Sites
//! A source's record is a *site* in a table that only grows. Events name it by number and
//! generation, so one that was fetched before its source was given back finds another
//! generation, or nobody. (An event that is late by 2^32 generations would wake somebody in
//! vain.)
//!
//! # Models
//! loom explores sites and sources as they are (`tests::model_site`), with a table and a common driver that
//! each run has of its own: loom's words cannot be in statics. Shuttle has them in whole runtimes.
//!
//! Lock order: the lock of a site's home, then that of its queues, or the poller's; then nothing.

#[cfg_attr(loom, path = "common_loom.rs")]
#[cfg_attr(shuttle, path = "common_modelled.rs")]
mod common;
mod site;
#[cfg_attr(loom, path = "sites_loom.rs")]
mod sites;
mod source;
mod table;
// Used by `net`, which models have not.
#[cfg(all(unix, not(any(loom, shuttle))))]
#[expect(unsafe_code, reason = "the contract of a case")]
mod watching;

#[cfg(shuttle)]
pub(crate) use common::{ask as ask_common, ring as ring_common};
pub(crate) use sites::ever;
pub use source::Interest;
pub(crate) use source::Source;
pub(crate) use table::{anybody_waits, awaits, evacuate, tell_all};
#[cfg(all(unix, not(any(loom, shuttle))))]
pub(crate) use watching::Watching;

#[cfg(test)]
mod tests;

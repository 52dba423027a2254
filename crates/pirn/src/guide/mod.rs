//! A guide: what there is, chapter by chapter, with examples that run.
//!
//! * [`channels`]: every kind, how they end, what becomes of values.
//! * [`select`]: waiting for whichever comes first.
//! * [`servers`]: connections, limits, a clean end, and what runs out.
//! * [`running`]: workers, dispatchers, and what blocks whom.
//! * [`cpu`]: computing in parallel, joins, loops and sorts; what cancels them, stacks, locks.
//! * [`migration`]: fibers that may change threads, and what you promise.
//! * [`async_crates`]: futures on fibers, fibers in async code, tokio.
//! * [`debugging`]: what fibers wait for, what hangs, what is slow.
//! * [`structure`]: scopes, groups, tokens; what a cancellation reaches.
//! * [`sync`]: locks and meeting points, and who goes on next.
//! * [`time`]: sleeping, limits, deadlines, ticks, virtual time in tests.
//! * [`from_rayon`], [`from_go`], [`from_std`], [`from_crossbeam`], [`from_tokio`]: what you write
//!   there, what you write here, what differs.
//!
//! Owns: words. The texts are in `guide/`, inside the package, so that they are with the
//! library wherever its documentation is built.

pub mod async_crates;
pub mod channels;
// As what it tells of.
#[cfg(not(loom))]
pub mod cpu;
pub mod debugging;
pub mod from_crossbeam;
pub mod from_go;
// As what it tells of.
#[cfg(not(loom))]
pub mod from_rayon;
pub mod from_std;
pub mod from_tokio;
pub mod migration;
pub mod running;
pub mod select;
// Its sockets are the system's.
#[cfg(all(unix, not(any(loom, shuttle))))]
pub mod servers;
pub mod structure;
pub mod sync;
pub mod time;

//! A guide in chapters, with examples that run.
//!
//! * [`channels`]: all kinds, how they end, and what happens to their values.
//! * [`select`]: waiting for the first of several events.
//! * [`servers`]: connections, limits, graceful shutdown, exhausted resources.
//! * [`running`]: workers, dispatchers, and how fibers delay each other.
//! * [`cpu`]: parallel computation: joins, loops and sorts; cancellation, stacks, locks.
//! * [`migration`]: fibers that may change threads, and the promise that this needs.
//! * [`async_crates`]: futures on fibers, fibers in async code, tokio.
//! * [`debugging`]: waits, deadlocks, slow fibers.
//! * [`structure`]: scopes, groups, tokens, and the reach of a cancellation.
//! * [`sync`]: locks and barriers, and the order in which waiters resume.
//! * [`time`]: sleeping, limits, deadlines, ticks, virtual time in tests.
//! * [`from_rayon`], [`from_go`], [`from_std`], [`from_crossbeam`], [`from_tokio`]: the same
//!   program there and here, and the differences.

// Owns: texts. They are in `guide/`, inside the package, so that they are available wherever the
// library's documentation is built.

pub mod async_crates;
pub mod channels;
// Available with the module it describes.
#[cfg(not(loom))]
pub mod cpu;
pub mod debugging;
pub mod from_crossbeam;
pub mod from_go;
// Available with the module it describes.
#[cfg(not(loom))]
pub mod from_rayon;
pub mod from_std;
pub mod from_tokio;
pub mod migration;
pub mod running;
pub mod select;
// Sockets exist only on Unix, and not in models.
#[cfg(all(unix, not(any(loom, shuttle))))]
pub mod servers;
pub mod structure;
pub mod sync;
pub mod time;

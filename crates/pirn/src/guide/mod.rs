//! A guide in chapters, with examples that run.
//!
//! [async_crates.md]: self::async_crates
//! [blocking_crates.md]: self::blocking_crates
//! [channels.md]: self::channels
//! [cpu.md]: self::cpu
//! [debugging.md]: self::debugging
//! [finding_bugs.md]: self::finding_bugs
//! [from_crossbeam.md]: self::from_crossbeam
//! [from_go.md]: self::from_go
//! [from_rayon.md]: self::from_rayon
//! [from_shuttle.md]: self::from_shuttle
//! [from_std.md]: self::from_std
//! [from_tokio.md]: self::from_tokio
//! [migration.md]: self::migration
//! [processes.md]: self::processes
//! [running.md]: self::running
//! [select.md]: self::select
//! [servers.md]: self::servers
//! [structure.md]: self::structure
//! [sync.md]: self::sync
//! [time.md]: self::time
//! [which_one.md]: self::which_one

#![doc = include_str!("../../guide/README.md")]

// Owns: texts. They are in `guide/`, inside the package, so that they are available wherever the
// library's documentation is built. The links between chapters work there and in the view of the
// repository: each file defines them as names of files, and each module, before it, as items. The
// first definition counts.

#[path = "crates/async.rs"]
pub mod async_crates;
// Sockets exist only on Unix, and not in models.
#[cfg(all(unix, not(pirn_modelled)))]
#[path = "crates/blocking.rs"]
pub mod blocking_crates;
pub mod channels;
// Available with the module it describes.
#[cfg(not(pirn_parts))]
pub mod cpu;
pub mod debugging;
// Its examples use a crate that models do not build.
#[cfg(not(pirn_modelled))]
pub mod finding_bugs;
#[path = "from/crossbeam.rs"]
pub mod from_crossbeam;
#[path = "from/go.rs"]
pub mod from_go;
// Available with the module it describes.
#[cfg(not(pirn_parts))]
#[path = "from/rayon.rs"]
pub mod from_rayon;
// As above.
#[cfg(not(pirn_modelled))]
#[path = "from/shuttle.rs"]
pub mod from_shuttle;
#[path = "from/std.rs"]
pub mod from_std;
#[path = "from/tokio.rs"]
pub mod from_tokio;
pub mod migration;
// Processes exist only on Unix, and not in models.
#[cfg(all(unix, not(pirn_modelled)))]
pub mod processes;
pub mod running;
pub mod select;
// Sockets exist only on Unix, and not in models.
#[cfg(all(unix, not(pirn_modelled)))]
pub mod servers;
pub mod structure;
pub mod sync;
pub mod time;
// It links to chapters on sockets and on campaigns, and to the module of computing.
#[cfg(all(unix, not(pirn_modelled), not(pirn_parts)))]
pub mod which_one;

#[cfg(all(test, not(pirn_modelled)))]
mod tests;

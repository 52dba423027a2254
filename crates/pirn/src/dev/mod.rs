//! Internals for the benchmarks, for tests, and for the crates `pirn-hooks` and `pirn-sim`. Not an
//! interface: anything here may change or disappear without notice.

#[cfg(all(target_os = "linux", not(pirn_modelled)))]
#[expect(unsafe_code, reason = "reads the running fiber's stack")]
pub mod hooks;
#[expect(unsafe_code, reason = "the contract of a ring's owner")]
mod parts;
#[cfg(not(pirn_modelled))]
pub mod sim;
#[cfg(pirn_modelled)]
mod wire;

#[cfg(pirn_tsan)]
pub use parts::order_no_switches;
pub use parts::{Item, StealRing, break_running_fiber, running_stack, sources_ever};
#[cfg(pirn_modelled)]
pub use wire::{FarEnd, Wire, ask_common, ring_common};

//! The interface between the runtime and the machine's concurrency: atomics, the short lock, the
//! blocking lock, threads, thread-locals, the clock and the source of seeds.
//!
//! Owns: the choice between the real machine, loom (one protocol, weak memory) and shuttle (whole
//! runtime, random schedules). It selects one of three files with the same interface. Only here
//! does the library ask which one it runs on. Other modules ask for a property: by the constants
//! `MODELLED`, `SMALL`, `SEEDED` and `WATCHING_PAYS`, or, to leave out a file, by a flag of the
//! build. With `pirn_modelled` there is no system. With `pirn_parts`, of loom, fibers are simulated
//! and modelled words cannot be in statics.
//!
//! Does not own: system calls (`sys`), or any policy.

#[cfg(not(any(loom, shuttle)))]
#[path = "native.rs"]
#[expect(
    unsafe_code,
    reason = "the cell under the spin lock and its checked twin"
)]
mod imp;

#[cfg(loom)]
#[path = "loom.rs"]
#[expect(unsafe_code, reason = "the surface of a lock that can be left out")]
mod imp;

#[cfg(all(shuttle, not(loom)))]
#[path = "shuttle.rs"]
#[expect(unsafe_code, reason = "the surface of a lock that can be left out")]
mod imp;

pub(crate) mod estimate;
#[cfg(not(loom))]
mod static_word;

pub(crate) use imp::*;
#[cfg(not(loom))]
pub(crate) use static_word::StaticU32;

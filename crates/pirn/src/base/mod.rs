//! The lowest layer: data structures that are independent of fibers.
//!
//! Owns: intrusive lists ([`list`]), a lock-free bitmap ([`bits`]), a small random generator
//! ([`rng`]), cache-line padding ([`pad`]), the pause between two checks of a word ([`backoff`]),
//! names in reports ([`name`]), and the switches that turn on the model checker's mutants
//! ([`mutant`]) and leave out everything that only reports read ([`diagnostics_enabled`]).
//!
//! Does not own: any policy, any thread, any system call.

pub(crate) mod backoff;
pub(crate) mod bits;
pub(crate) mod choice;
pub(crate) mod clock;
pub(crate) mod diagnostics_enabled;
pub(crate) mod drop_guard;
#[expect(
    unsafe_code,
    reason = "intrusive links reached through raw node pointers"
)]
pub(crate) mod list;
pub(crate) mod mutant;
pub(crate) mod name;
pub(crate) mod pad;
#[expect(unsafe_code, reason = "the prefetch instruction")]
pub(crate) mod prefetch;
pub(crate) mod rng;

#[cfg(test)]
pub(crate) mod tests;

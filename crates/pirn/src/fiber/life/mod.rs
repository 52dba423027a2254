//! The states in a fiber's life, by name, and which may follow which.
//!
//! Owns: the names that reports use; and in debug builds a record in each header of the state that
//! its fiber is in, in which every step is looked at. Does not own: the state word
//! (`fiber::state`), which is what decides; it says of all that have an owner just that.
//!
//! No loom model has the record: there fibers are played, and skip steps.

mod name;
#[cfg_attr(not(all(debug_assertions, not(loom))), path = "none.rs")]
mod record;

pub use name::State;
pub(crate) use record::Life;

//! The states in a fiber's life, by name, and their legal transitions.
//!
//! Owns: the names that reports use; and in debug builds, in each header, a record of the fiber's
//! state, which checks every step. Does not own: the state word (`fiber::state`), which decides; it
//! does not distinguish the states in which a fiber has an owner.
//!
//! Models of one protocol have no record: there fibers are simulated, and skip steps.

mod name;
#[cfg_attr(not(all(debug_assertions, not(pirn_parts))), path = "none.rs")]
mod record;

pub use name::State;
pub(crate) use record::Life;

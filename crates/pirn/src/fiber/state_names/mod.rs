//! The states in a fiber's life, by name, and their legal transitions.
//!
//! Owns: the names that reports use, and in debug builds a record in each header that checks every
//! transition. Does not own: the state word (`fiber::state`), which decides every race; it has one
//! state, Active, for all states in which a fiber has an owner.
//!
//! Models of one protocol have no record: their fibers are simulated, and skip transitions.

mod name;
#[cfg_attr(not(all(debug_assertions, not(pirn_parts))), path = "none.rs")]
mod record;

pub use name::State;
pub(crate) use record::Life;

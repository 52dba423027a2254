//! `cargo xtask model`: the shipped files under model checkers.
//!
//! * `engines`: loom (one protocol, weak memory) and shuttle (the whole runtime, random
//!   schedules), as builds of the library with another shim.
//! * `spin`: hand-written protocols, for liveness, which only Spin checks.
//! * `mutants`: seeded bugs; each must make the named model fail.

mod engines;
mod mutants;
mod spin;

pub(crate) use engines::{Engine, model, models};
pub(crate) use mutants::{
    PATH as MUTANTS, check as check_mutants, is_caught, mutant_names, mutants,
};
pub(crate) use spin::spin;

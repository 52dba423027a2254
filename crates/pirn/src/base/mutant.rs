//! Seeded bugs: each protocol can be broken in one named place, which proves that its model can
//! fail.
//!
//! `--cfg pirn_mutant="ring_push_relaxed"` turns one on, beside the flags of a model
//! (`cargo xtask model --mutants ring_push`). The list of names, with the model that catches
//! each, is `docs/models.md`. In every other build both macros are constants that leave no
//! trace.

/// True in a build that seeds the bug of this name.
macro_rules! mutant {
    ($name:literal) => {
        cfg!(pirn_mutant = $name)
    };
}
pub(crate) use mutant;

/// The given ordering; `Relaxed` in a build that seeds the bug of this name.
macro_rules! or_relaxed {
    ($order:expr, $name:literal) => {
        if cfg!(pirn_mutant = $name) {
            $crate::shim::atomic::Ordering::Relaxed
        } else {
            $order
        }
    };
}
pub(crate) use or_relaxed;

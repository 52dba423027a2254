//! Seeded bugs: each protocol can be broken in one named place, which proves that its model can
//! fail.
//!
//! A build with `--cfg pirn_mutants` contains all of them. The variable `PIRN_MUTANT` turns on the
//! one that it names, for a whole process (`cargo xtask model --mutants ring_push`). The list of
//! names, with the tests that catch each, is `docs/models.md`. In every other build both macros
//! are constants that leave no trace.

/// Evaluates to true in a process that turns on this bug.
#[cfg(not(pirn_mutants))]
macro_rules! mutant {
    ($name:literal) => {
        false
    };
}

/// Evaluates to true in a process that turns on this bug.
#[cfg(pirn_mutants)]
macro_rules! mutant {
    ($name:literal) => {{
        // One for each place: a model passes it millions of times.
        static ON: std::sync::LazyLock<bool> =
            std::sync::LazyLock::new(|| $crate::base::mutant::is_chosen($name));
        *ON
    }};
}
pub(crate) use mutant;

/// Evaluates to the given ordering, or to `Relaxed` in a process that turns on this bug.
macro_rules! or_relaxed {
    ($order:expr, $name:literal) => {
        if $crate::base::mutant::mutant!($name) {
            $crate::shim::atomic::Ordering::Relaxed
        } else {
            $order
        }
    };
}
pub(crate) use or_relaxed;

/// Returns true if `PIRN_MUTANT` is this name.
#[cfg(pirn_mutants)]
pub(crate) fn is_chosen(name: &str) -> bool {
    std::env::var_os("PIRN_MUTANT").is_some_and(|chosen| chosen == name)
}

//! The tests that are left out, and why: at most ten, each by its name.
//!
//! What is left out is still built, and is listed by the test binary as ignored, with the
//! reason. A name that no test bears fails the build.

use super::rewrite::Flavor;

/// The list, and which of its lines have been met.
pub(crate) struct Exclusions(Vec<bool>);

impl Exclusions {
    pub(crate) fn new() -> Exclusions {
        assert!(LIST.len() <= 10, "more than ten tests are left out");
        Exclusions(vec![false; LIST.len()])
    }

    /// Why a test is left out; `None` if it is not.
    pub(crate) fn reason(&mut self, flavor: Flavor, test: &str) -> Option<&'static str> {
        let at = LIST
            .iter()
            .position(|(flavors, name, _)| flavors.contains(&flavor) && *name == test)?;
        self.0[at] = true;
        Some(LIST[at].2)
    }

    /// Fails the build if a line has not been met.
    pub(crate) fn finish(self) {
        for ((_, name, _), met) in LIST.iter().zip(self.0) {
            assert!(met, "there is no test `{name}` to be left out");
        }
    }
}

const BOTH: &[Flavor] = &[Flavor::Threads, Flavor::Fibers];

/// In which flavors, which test, why.
const LIST: &[(&[Flavor], &str, &str)] = &[(
    BOTH,
    "array::panic_on_drop",
    "wants a panic in the drop of one value to leak the others; pirn drops them all",
)];

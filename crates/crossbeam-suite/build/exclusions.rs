//! The excluded tests, each with a reason: at most ten, by name.
//!
//! An excluded test is still built, and the test binary lists it as ignored, with the reason. A
//! name without a test fails the build.

use super::rewrite::Flavor;

/// The list, and which of its lines have matched a test.
pub(crate) struct Exclusions(Vec<bool>);

impl Exclusions {
    pub(crate) fn new() -> Exclusions {
        assert!(LIST.len() <= 10, "more than ten tests are left out");
        Exclusions(vec![false; LIST.len()])
    }

    /// Returns why a test is excluded; `None` if it is not.
    pub(crate) fn reason(&mut self, flavor: Flavor, test: &str) -> Option<&'static str> {
        let at = LIST
            .iter()
            .position(|(flavors, name, _)| flavors.contains(&flavor) && *name == test)?;
        self.0[at] = true;
        Some(LIST[at].2)
    }

    /// Fails the build if a line has matched no test.
    pub(crate) fn finish(self) {
        for ((_, name, _), met) in LIST.iter().zip(self.0) {
            assert!(met, "there is no test `{name}` to be left out");
        }
    }
}

const BOTH: &[Flavor] = &[Flavor::Threads, Flavor::Fibers];

/// Flavors, test, reason.
const LIST: &[(&[Flavor], &str, &str)] = &[(
    BOTH,
    "array::panic_on_drop",
    "wants a panic in the drop of one value to leak the others; pirn drops them all",
)];

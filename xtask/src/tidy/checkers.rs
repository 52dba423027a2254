//! The model checkers are named in `shim` and in tests alone: other modules ask for a property.

use super::rings::production;
use super::tree::{Finding, Tree};
use crate::source::{Source, Token};

/// The module that chooses between the machine and the checkers.
const CHOOSES: &str = "crates/pirn/src/shim/";

/// Finds the first name of a checker in each file.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let is_name = |token: &&Token| matches!(token.text.as_str(), "loom" | "shuttle");
    let files = production(tree).filter(|source| !source.path.starts_with(CHOOSES));
    let named = files.filter_map(|source| Some((source, source.code().find(is_name)?)));
    let finding = |(source, token): (&Source, &Token)| {
        let said = format!("names {}: `shim` has properties to ask for", token.text);
        Finding::new(&source.path, token.line, said)
    };
    named.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn a_checker_is_named_in_the_shim_and_in_tests() {
        let text = "#[cfg(not(loom))]\nfn f() {}\n#[cfg(shuttle)]\nfn g() {}\n";
        assert_eq!(found("crates/pirn/src/a/b.rs", text), 1);
        assert_eq!(found("crates/pirn/src/shim/b.rs", text), 0);
        assert_eq!(found("crates/pirn/src/a/tests/b.rs", text), 0);
        let test = "#[cfg(all(test, loom))]\nfn f() {}\n// loom\n";
        assert_eq!(found("crates/pirn/src/a/b.rs", test), 0);
    }
}

//! Documents match the tree: every example is in README.md, the code of README.md is in the page
//! that the doc tests run, every chapter of docs/design in its index, every seeded bug in
//! docs/models.md, and docs/features.md is what its sources say.

use super::tree::{Finding, Tree};
use crate::{features, model};

const README: &str = "README.md";
/// The first page of the package, with code that the doc tests run.
const TESTED: &str = "crates/pirn/README.md";
const CHAPTERS: &str = "docs/design/";
const INDEX: &str = "docs/design/README.md";

/// Finds outdated documents.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let sources = tree.sources.iter();
    for source in sources.filter(|s| s.path.contains("/examples/")) {
        let path = source.path.as_str();
        let name = path.rsplit('/').next().unwrap_or(path);
        let name = name.trim_end_matches(".rs");
        if !tree.text(README).contains(&format!("`{name}`")) {
            let said = format!("example `{name}` ({path}) is not listed");
            findings.push(Finding::new(README, 0, said));
        }
    }
    let blocks = tree.text(README).split("```rust\n").skip(1);
    let blocks = blocks.filter_map(|rest| rest.split("```").next());
    for block in blocks.filter(|block| !tree.text(TESTED).contains(block)) {
        let first = block.lines().next().unwrap_or_default();
        let said = format!("no test runs the code from `{first}`: {TESTED} lacks it");
        findings.push(Finding::new(README, 0, said));
    }
    for chapter in chapters(tree) {
        if !tree.text(INDEX).contains(&format!("({chapter})")) {
            let said = format!("{chapter} is not in the index");
            findings.push(Finding::new(INDEX, 0, said));
        }
    }
    let mutants = model::check_mutants(tree.text(model::MUTANTS), tree.library());
    let said = mutants.into_iter();
    findings.extend(said.map(|said| Finding::new(model::MUTANTS, 0, said)));
    let features = features::read(&tree.files);
    findings.extend(features.wrong);
    if tree.text(features::PATH) != features.page {
        let said =
            "not what is written from the promises and tests: `cargo xtask tidy --save`";
        findings.push(Finding::new(features::PATH, 0, said));
    }
    findings
}

/// Returns the file names of the chapters of docs/design.
pub(super) fn chapters(tree: &Tree) -> impl Iterator<Item = &str> {
    let files = tree.files.iter().filter(|file| file.path != INDEX);
    files.filter_map(|file| file.path.strip_prefix(CHAPTERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn what_lags_is_found() {
        assert!(found(&[]).is_empty());
        let example = ("crates/pirn/examples/hello.rs", "//! D.\n");
        assert_eq!(found(&[example]).len(), 1);
        assert!(found(&[example, (README, "run `hello`")]).is_empty());
        let code = "```rust\nlet a = 1;\n```\n";
        assert_eq!(found(&[(README, code)]).len(), 1);
        assert!(found(&[(README, code), (TESTED, code)]).is_empty());
        assert_eq!(found(&[("docs/design/01-a.md", "x")]).len(), 1);
        let index = (INDEX, "[a](01-a.md)");
        assert!(found(&[("docs/design/01-a.md", "x"), index]).is_empty());
        assert_eq!(found(&[(features::PATH, "Text.\n")]).len(), 1);
        let text = (features::PROMISES, "Text.\n");
        assert!(found(&[(features::PATH, "Text.\n"), text]).is_empty());
    }
}

//! `cargo xtask tidy --report`: figures of the repository, one a line.

use super::tree::Tree;
use super::{budget, checkers, docs, rings, unsafe_list, words};
use crate::tally::Tally;
use crate::{command, matrix, repo};

/// Counts the public items with an example, by file; for the toolchain of rust-toolchain.toml.
const COVERAGE: &str = "rustdoc --quiet --package pirn --lib --all-features -- -Zunstable-options --show-coverage";

/// Prints the figures.
///
/// # Errors
/// When the files cannot be read or parsed, or the documentation cannot be built.
pub(crate) fn report() -> Result<Tally, String> {
    let tree = &Tree::new(repo::files()?)?;
    let print = |what: &str, value: &str| println!("    {what:<40} {value}");
    for (name, lines, most) in budget::parts(tree) {
        let value = format!("{lines}, at most {most}");
        print(&format!("code lines, {name}"), &value);
    }
    let (expected, listed) = (unsafe_list::expected(tree), unsafe_list::listed(tree));
    let modules = format!("{}, in docs/unsafe.md {}", expected.len(), listed.len());
    print("modules with unsafe code", &modules);
    let counts = [
        ("words that must not stay", words::check(tree).len()),
        ("folders with too many files", budget::folders(tree).len()),
        ("structs with too many fields", budget::structs(tree).len()),
        ("rings of files", rings::check(tree).len()),
        ("design chapters", docs::chapters(tree).count()),
        ("files that name a checker", checkers::check(tree).len()),
    ];
    for (what, count) in counts {
        print(what, &count.to_string());
    }
    command::run(&mut matrix::cargo(COVERAGE, "--cfg docsrs"))?;
    Ok(Tally {
        passed: counts.len(),
        ..Tally::default()
    })
}

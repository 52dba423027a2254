//! `cargo xtask tidy`: every rule over the whole repository.

use super::report::report;
use super::tree::{Finding, Tree};
use super::{
    budget, checkers, comments, docs, facade, guide, layers, reasons, rings, unsafe_list,
    words,
};
use crate::options::Options;
use crate::tally::Tally;
use crate::{features, repo};

/// A rule: its title and its function.
type Rule = fn(&Tree) -> Vec<Finding>;

const RULES: &[(&str, Rule)] = &[
    ("imports point downwards", layers::check),
    ("mod.rs is a façade", facade::check),
    ("no ring of files", rings::check),
    ("budgets of parts, files and structs", budget::check),
    ("unsafe only where listed", unsafe_list::check),
    ("checkers named in the shim and tests", checkers::check),
    ("every wait reason is used", reasons::check),
    ("words that must not stay", words::check),
    ("headers, and comments without code", comments::check),
    ("documents keep up", docs::check),
    ("chapters of the guide have a place", guide::check),
];

/// Runs every rule and prints the findings; with `--report`, prints figures instead. With `--save`,
/// writes docs/features.md before.
///
/// # Errors
/// When the files cannot be read or parsed, or the page cannot be written.
pub(crate) fn tidy(options: &Options) -> Result<Tally, String> {
    if options.has("report") {
        return report();
    }
    let mut tree = Tree::new(repo::files()?)?;
    if options.has("save") {
        features::save(&tree.files)?;
        tree.files = repo::files()?;
    }
    let (all, rust) = (tree.files.len(), tree.sources.len());
    println!("    {all} files, {rust} of them Rust");
    let mut tally = Tally::default();
    for (name, rule) in RULES {
        let findings = rule(&tree);
        tally += Tally::printed(findings.iter().all(|f| f.only_warns), name);
        for finding in &findings {
            println!("      {finding}");
        }
    }
    Ok(tally)
}

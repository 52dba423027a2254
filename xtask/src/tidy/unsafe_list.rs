//! Unsafe code is only in the modules of docs/unsafe.md.
//!
//! The only way to allow it is `#[expect(unsafe_code, reason = "…")]` on a `mod` line. The
//! table in docs/unsafe.md (`Module | Why`) lists exactly those modules; test modules need
//! the line too, but not the listing.

use std::collections::BTreeSet;

use syn::spanned::Spanned as _;
use syn::{Item, ItemMod};

use super::attributes;
use super::tree::{Finding, Tree};
use crate::markdown::{quoted, table};
use crate::repo;
use crate::source::Source;

pub(super) const LIST: &str = "docs/unsafe.md";

/// Compares the expectations in the sources with the list.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (listed, expected) = (listed(tree), expected(tree));
    for source in &tree.sources {
        for lint in lints(source) {
            let said = match (&lint.module, lint.level) {
                (_, "allow") => {
                    "`allow(unsafe_code)`: use `expect` on the `mod` line".to_owned()
                }
                (_, "expect") if lint.test => continue,
                (None, "expect") => {
                    "`expect(unsafe_code)` belongs on a `mod` line".to_owned()
                }
                (Some(name), "expect") if !listed.contains(name) => {
                    format!("module `{name}` is not in {LIST}")
                }
                _ => continue,
            };
            findings.push(Finding::new(&source.path, lint.line, said));
        }
    }
    for name in listed.difference(&expected) {
        let said = format!("module `{name}` is listed, but expects no unsafe code");
        findings.push(Finding::new(LIST, 0, said));
    }
    findings
}

/// Returns the modules of the list.
pub(super) fn listed(tree: &Tree) -> BTreeSet<String> {
    let rows = table(tree.text(LIST), "Module").into_iter();
    let names = rows.flat_map(|(_, row)| quoted(row[0]));
    names.map(str::to_owned).collect()
}

/// Returns the modules with unsafe code, without those of tests.
pub(super) fn expected(tree: &Tree) -> BTreeSet<String> {
    let lints = tree.sources.iter().flat_map(lints);
    let expected = lints.filter(|lint| lint.level == "expect" && !lint.test);
    expected.filter_map(|lint| lint.module).collect()
}

/// An attribute that sets the level of the lint `unsafe_code`.
struct Lint<'a> {
    level: &'a str,
    line: usize,
    /// In a test file, or under `#[cfg(test)]`.
    test: bool,
    /// The module, if it is an attribute of a `mod` line.
    module: Option<String>,
}

/// Returns every such attribute in a file.
fn lints(source: &Source) -> Vec<Lint<'_>> {
    let tokens = source.tokens.windows(3);
    let named = tokens.filter(|t| t[1].text == "(" && t[2].text == "unsafe_code");
    let lint = named.map(|tokens| Lint {
        level: &tokens[0].text,
        line: tokens[0].line,
        test: source.is_test_file() || tokens[0].test,
        module: source.items.iter().find_map(|item| match item {
            Item::Mod(module) if module.content.is_none() => {
                let span = module.span();
                let lines = span.start().line..=span.end().line;
                lines
                    .contains(&tokens[0].line)
                    .then(|| qualified(source, module))
            }
            _ => None,
        }),
    });
    lint.collect()
}

/// Returns the name of a module, that of its file if an attribute sets one, with the parent modules
/// of `source`; for other crates than the library also with the crate's name.
fn qualified(source: &Source, module: &ItemMod) -> String {
    let (package, mut parts) = repo::module(&source.path).unwrap_or_default();
    if package != "pirn" {
        parts.insert(0, &package);
    }
    let name = attributes::file(module).unwrap_or_else(|| module.ident.to_string());
    parts.push(&name);
    parts.join("::")
}

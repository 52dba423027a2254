//! Unsafe code is only in the modules of docs/unsafe.md.
//!
//! The only way to allow it is `#[expect(unsafe_code, reason = "…")]` on a `mod` line. The
//! table in docs/unsafe.md (`Module | Why`) lists exactly those modules; test modules need
//! the line too, but not the listing.

use std::collections::BTreeSet;

use super::tree::{Finding, Tree};
use crate::markdown::{quoted, table};
use crate::source::Source;

pub(super) const LIST: &str = "docs/unsafe.md";

/// Compares the expectations in the sources with the list.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let listed: BTreeSet<String> = table(tree.text(LIST).unwrap_or_default(), "Module")
        .iter()
        .flat_map(|(_, row)| quoted(row[0]))
        .map(str::to_owned)
        .collect();
    let mut expected = BTreeSet::new();
    for source in &tree.sources {
        for item in attributed(source) {
            if item.carries("allow(unsafe_code") {
                let said = "`allow(unsafe_code)`: use `expect` on the `mod` line";
                findings.push(Finding::new(&source.path, item.line, said));
            }
            if !item.carries("expect(unsafe_code") || item.test {
                continue;
            }
            match item.module() {
                Some(name) => {
                    let name = qualified(source, &name);
                    if !listed.contains(&name) {
                        let said = format!("module `{name}` is not in {LIST}");
                        findings.push(Finding::new(&source.path, item.line, said));
                    }
                    expected.insert(name);
                }
                None => {
                    let said = "`expect(unsafe_code)` belongs on a `mod` line";
                    findings.push(Finding::new(&source.path, item.line, said));
                }
            }
        }
    }
    for name in listed.difference(&expected) {
        let said = format!("module `{name}` is listed, but expects no unsafe code");
        findings.push(Finding::new(LIST, 0, said));
    }
    findings
}

/// Consecutive attributes, and the first line of their item.
#[derive(Debug, Default)]
struct Attributed {
    /// The line of the first attribute.
    line: usize,
    attributes: Vec<String>,
    item: String,
    /// In a test file, or under `#[cfg(test)]`.
    test: bool,
}

impl Attributed {
    fn carries(&self, what: &str) -> bool {
        self.attributes.iter().any(|a| a.contains(what))
    }

    /// Returns the module's name if the item is a `mod` line; that of its file if a path attribute
    /// sets one.
    fn module(&self) -> Option<String> {
        let path = self.attributes.iter().find_map(|a| {
            a.strip_prefix("#[path=\"")?
                .split_once(".rs")
                .map(|(name, _)| name)
        });
        let mut words = self
            .item
            .split_whitespace()
            .skip_while(|w| w.starts_with("pub"));
        if words.next() != Some("mod") {
            return None;
        }
        let name = words.next()?.strip_suffix(';')?;
        Some(path.unwrap_or(name).to_owned())
    }
}

/// Returns every group of attributes in a file.
fn attributed(source: &Source) -> Vec<Attributed> {
    let mut groups = Vec::new();
    let mut group = Attributed::default();
    let mut open = String::new();
    for (at, line) in source.lines.iter().enumerate() {
        let text = line.text.trim();
        if open.is_empty() && !text.starts_with("#[") && !text.starts_with("#![") {
            if !text.is_empty() && !group.attributes.is_empty() {
                group.item = text.to_owned();
                group.test = line.test || source.is_test_file();
                groups.push(std::mem::take(&mut group));
            }
            continue;
        }
        if group.attributes.is_empty() && open.is_empty() {
            group.line = at + 1;
        }
        open.extend(text.chars().filter(|c| !c.is_whitespace()));
        let count = |c| open.matches(c).count();
        if count('[') == count(']') && count('(') == count(')') {
            group.attributes.push(std::mem::take(&mut open));
        }
    }
    groups
}

/// Prefixes a child's name with the parent modules of a file; for other crates than the library
/// also with the crate's name.
fn qualified(source: &Source, name: &str) -> String {
    let (home, inside) = source
        .path
        .split_once("/src/")
        .unwrap_or(("", &source.path));
    let package = home.rsplit('/').next().unwrap_or_default();
    let mut parts: Vec<_> = inside.trim_end_matches(".rs").split('/').collect();
    if matches!(parts.last(), Some(&"mod" | &"lib" | &"main")) {
        parts.pop();
    }
    if package != "pirn" {
        parts.insert(0, package);
    }
    let mut full = String::new();
    for part in parts {
        full.push_str(part);
        full.push_str("::");
    }
    full + name
}

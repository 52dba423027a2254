//! Unsafe code lives where docs/unsafe.md says, and nowhere else.
//!
//! The only way to allow it is `#[expect(unsafe_code, reason = "…")]` on a `mod` line. The
//! table in docs/unsafe.md (`Module | Why`) lists exactly those modules; test modules need
//! the line too, but not the listing.

use std::collections::BTreeSet;

use super::tree::{Finding, Tree};
use crate::markdown::{quoted, table};
use crate::source::Source;

const LIST: &str = "docs/unsafe.md";

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
        let in_src = source.path.contains("/src/");
        for (line, code) in source
            .lines
            .iter()
            .enumerate()
            .map(|(at, l)| (at + 1, &l.code))
        {
            if code.contains("allow(unsafe_code") {
                let said = "`allow(unsafe_code)`: use `expect` on the `mod` line";
                findings.push(Finding::new(&source.path, line, said));
            }
            if !code.contains("expect(unsafe_code") || source.is_test_file() || !in_src {
                continue;
            }
            match module_below(source, line - 1) {
                Some(Door { test: true, .. }) => {}
                Some(Door { name, .. }) => {
                    if !listed.contains(&name) {
                        let said = format!("module `{name}` is not in {LIST}");
                        findings.push(Finding::new(&source.path, line, said));
                    }
                    expected.insert(name);
                }
                None => {
                    let said = "`expect(unsafe_code)` belongs on a `mod` line";
                    findings.push(Finding::new(&source.path, line, said));
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

/// The module that an attribute stands on.
#[derive(Debug)]
struct Door {
    /// `a::b`, named after its file where a path attribute picks one.
    name: String,
    test: bool,
}

/// Reads on from the attribute at `at` (an index) to the `mod` line it belongs to.
fn module_below(source: &Source, at: usize) -> Option<Door> {
    let from = source.lines[..at]
        .iter()
        .rposition(|l| !l.code.trim_start().starts_with("#["))
        .map_or(0, |above| above + 1);
    let mut path = None;
    for line in &source.lines[from..] {
        let text = line.text.trim();
        if let Some((_, rest)) = text.split_once("#[path = \"") {
            path = rest.split_once(".rs\"").map(|(name, _)| name.to_owned());
            continue;
        }
        let mut words = text.split_whitespace().skip_while(|w| w.starts_with("pub"));
        if words.next() == Some("mod") {
            let name = words.next()?.strip_suffix(';')?.to_owned();
            return Some(Door {
                name: qualified(source, path.unwrap_or(name)),
                test: line.test,
            });
        }
        if text.contains(" fn ") || text.starts_with("fn ") || text.contains("impl ") {
            return None;
        }
    }
    None
}

/// Puts the parent modules of a file before a child's name; other crates than the library
/// come first with their own name.
fn qualified(source: &Source, name: String) -> String {
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
    full + &name
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECT: &str = "#[expect(unsafe_code, reason = \"r\")]";

    fn found(list: &str, path: &str, text: &str) -> Vec<String> {
        let list = format!("| Module | Why |\n|--|--|\n{list}");
        let tree = Tree::of(&[(LIST, &list), (path, text)]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_listed_module_passes() {
        let text = format!("{EXPECT}\n#[cfg(x)]\npub(crate) mod b;\n");
        assert!(found("| `a::b` | r |\n", "crates/pirn/src/a/mod.rs", &text).is_empty());
        let text = format!("#[path = \"c.rs\"]\n{EXPECT}\nmod imp;\n");
        assert!(found("| `a::c` | r |\n", "crates/pirn/src/a/mod.rs", &text).is_empty());
        let text = format!("#[cfg(test)]\n{EXPECT}\nmod tests;\n");
        assert!(found("", "crates/pirn/src/a/mod.rs", &text).is_empty());
    }

    #[test]
    fn both_directions_are_checked() {
        let text = format!("{EXPECT}\nmod b;\n");
        let said = found("", "crates/pirn/src/lib.rs", &text);
        assert_eq!(
            said,
            ["crates/pirn/src/lib.rs:1: module `b` is not in docs/unsafe.md"]
        );
        let said = found("| `b` | r |\n", "crates/pirn/src/lib.rs", "mod b;\n");
        assert_eq!(said.len(), 1, "{said:?}");
    }

    #[test]
    fn nothing_but_a_mod_line_may_carry_it() {
        let text = format!("{EXPECT}\npub fn f() {{}}\nmod b;\n");
        assert_eq!(found("", "crates/pirn/src/a.rs", &text).len(), 1);
        let text = "#[allow(unsafe_code, reason = \"r\")]\nmod b;\n";
        assert_eq!(found("", "crates/pirn/src/a.rs", text).len(), 1);
    }
}

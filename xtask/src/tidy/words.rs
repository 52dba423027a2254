//! Forbidden words: forgotten debugging, promises without an issue, paths of one machine, addresses
//! that a reader cannot reach.

use super::tree::{Finding, Tree};
use crate::source::{Source, is_word};

/// Macros that are forbidden everywhere.
const NEVER: &[&str] = &["dbg", "todo", "unimplemented"];
/// Macros that are forbidden in the library.
const NOT_IN_LIBRARY: &[&str] = &["println", "print"];
/// Marks that must be followed by an issue's number: `(#12)`.
const PROMISES: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];
/// Beginnings of paths that exist on one machine only.
const PATHS: &[&str] = &[
    "/home/",
    "/root/",
    "/work/",
    "/tmp/t-",
    "../shared",
    "/Users/",
];
/// Hosts to which links may point.
const HOSTS: &[&str] = &[
    "apache.org",
    "crates.io",
    "doc.rust-lang.org",
    "docs.rs",
    "github.com",
    "kernel.org",
    "man7.org",
    "opensource.org",
    "rfc-editor.org",
];

/// Finds forbidden words.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &tree.sources {
        macros(source, &mut findings);
    }
    for file in tree
        .files
        .iter()
        .filter(|f| f.path != "xtask/src/tidy/words.rs")
    {
        for (at, line) in file.text.lines().enumerate() {
            promises(&file.path, at + 1, line, &mut findings);
            places(&file.path, at + 1, line, &mut findings);
        }
    }
    findings
}

fn macros(source: &Source, findings: &mut Vec<Finding>) {
    let library = source.path.starts_with("crates/pirn/src/");
    for (at, line) in source.lines.iter().enumerate() {
        let outside = !source.is_test_file() && !line.test;
        let quiet = if library && outside {
            NOT_IN_LIBRARY
        } else {
            &[]
        };
        for name in NEVER.iter().chain(quiet) {
            if calls(&line.code, name) {
                findings.push(Finding::new(&source.path, at + 1, format!("`{name}!`")));
            }
        }
    }
}

fn calls(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        code[at + name.len()..].starts_with('!') && !before.is_some_and(is_word)
    })
}

fn promises(path: &str, at: usize, line: &str, findings: &mut Vec<Finding>) {
    for mark in PROMISES {
        for (start, _) in line.match_indices(mark) {
            let before = line[..start].chars().next_back();
            let after = &line[start + mark.len()..];
            if before.is_some_and(|c| is_word(c) || c == '`')
                || after.starts_with(|c| is_word(c) || c == '`')
            {
                continue;
            }
            let numbered = after
                .strip_prefix("(#")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            if !numbered {
                let said = format!("{mark} without an issue: write {mark}(#number)");
                findings.push(Finding::new(path, at, said));
            }
        }
    }
}

fn places(path: &str, at: usize, line: &str, findings: &mut Vec<Finding>) {
    for place in PATHS {
        if line.contains(place) {
            let said = format!("`{place}` is a path of one machine");
            findings.push(Finding::new(path, at, said));
        }
    }
    for (start, _) in line.match_indices("://") {
        if line[..start]
            .chars()
            .next_back()
            .is_none_or(|c| !c.is_ascii_alphabetic())
        {
            continue;
        }
        let rest = &line[start + 3..];
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-')))
            .unwrap_or(rest.len());
        let host = &rest[..end];
        let known = HOSTS.iter().any(|h| {
            host.strip_suffix(h)
                .is_some_and(|sub| sub.is_empty() || sub.ends_with('.'))
        });
        if !known && !host.is_empty() {
            let said = format!("a link to `{host}`, which is not in the list of hosts");
            findings.push(Finding::new(path, at, said));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        check(&Tree::of(&[("crates/pirn/src/a.rs", text)])).len()
    }

    #[test]
    fn debugging_is_found() {
        assert_eq!(found("fn f() { dbg!(1); }"), 1);
        assert_eq!(found("fn f() { todo!() }"), 1);
        assert_eq!(found("fn f() { println!(\"x\") }"), 1);
        assert_eq!(found("// like println!\nfn f() { eprintln!(\"dbg!\") }"), 0);
        assert_eq!(found("#[cfg(test)]\nmod t { fn f() { println!() } }"), 0);
    }

    #[test]
    fn promises_need_an_issue() {
        assert_eq!(found("// TODO: later"), 1);
        assert_eq!(found("// FIXME(someone): later"), 1);
        assert_eq!(found("// TODO(#12): later"), 0);
    }

    #[test]
    fn places_are_found() {
        assert_eq!(found("// see ../shared/x"), 1);
        assert_eq!(found("// see https://example.net/x"), 1);
        assert_eq!(
            found("// see https://docs.rs/x, sparse+https://index.crates.io/"),
            0
        );
        assert_eq!(found("// see https://notdocs.rs"), 1);
    }
}

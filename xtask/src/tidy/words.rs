//! Forbidden words: forgotten debugging, promises without an issue, paths of one machine, addresses
//! that a reader cannot reach, persons in place of things.

use super::tree::{Finding, LIBRARY, Tree};
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

/// Words for persons: the subject of a sentence is a thing.
const PERSONS: &[&str] = &[
    "who",
    "whose",
    "whom",
    "whoever",
    "nobody",
    "somebody",
    "anybody",
    "everybody",
];

/// Finds forbidden words.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &tree.sources {
        macros(source, &mut findings);
        let comments = source.comments.iter();
        let comments = comments.map(|comment| (comment.line, comment.text.as_str()));
        let is_library = source.path.starts_with(LIBRARY);
        let messages = source
            .code()
            .filter(|token| is_library && token.text.contains('"'));
        let messages = messages.map(|token| (token.line, token.text.as_str()));
        for (line, text) in comments.chain(messages) {
            persons(&source.path, line, text, &mut findings);
        }
    }
    let files = tree.files.iter();
    for file in files.filter(|f| f.path != "xtask/src/tidy/words.rs") {
        for (at, line) in file.text.lines().enumerate() {
            promises(&file.path, at + 1, line, &mut findings);
            places(&file.path, at + 1, line, &mut findings);
            if file.path.ends_with(".md") {
                persons(&file.path, at + 1, line, &mut findings);
            }
        }
    }
    findings
}

fn macros(source: &Source, findings: &mut Vec<Finding>) {
    let library = source.path.starts_with(LIBRARY) && !source.is_test_file();
    for call in source.tokens.windows(2).filter(|call| call[1].text == "!") {
        let (name, line) = (call[0].text.as_str(), call[0].line);
        let quiet = library && !call[0].test && NOT_IN_LIBRARY.contains(&name);
        if quiet || NEVER.contains(&name) {
            findings.push(Finding::new(&source.path, line, format!("`{name}!`")));
        }
    }
}

fn promises(path: &str, at: usize, line: &str, findings: &mut Vec<Finding>) {
    let is_apart = |c: char| !is_word(c) && c != '`';
    for mark in PROMISES {
        for (start, _) in line.match_indices(mark) {
            let (before, after) = (&line[..start], &line[start + mark.len()..]);
            let number = after.strip_prefix("(#").unwrap_or_default();
            if before.chars().next_back().is_none_or(is_apart)
                && after.chars().next().is_none_or(is_apart)
                && !number.starts_with(|c: char| c.is_ascii_digit())
            {
                let said = format!("{mark} without an issue: write {mark}(#number)");
                findings.push(Finding::new(path, at, said));
            }
        }
    }
}

/// Finds persons outside of code between backticks.
fn persons(path: &str, at: usize, text: &str, findings: &mut Vec<Finding>) {
    let prose = text.split('`').step_by(2);
    for word in prose.flat_map(|part| part.split(|c| !is_word(c))) {
        if PERSONS
            .iter()
            .any(|person| person.eq_ignore_ascii_case(word))
        {
            let said = format!("{word}: name the thing");
            findings.push(Finding::new(path, at, said));
        }
    }
}

fn places(path: &str, at: usize, line: &str, findings: &mut Vec<Finding>) {
    for place in PATHS.iter().filter(|place| line.contains(**place)) {
        let said = format!("`{place}` is a path of one machine");
        findings.push(Finding::new(path, at, said));
    }
    let mut parts = line.split("://");
    let mut before = parts.next().unwrap_or_default();
    for after in parts {
        let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
        let host = after.split(|c| !is_host(c)).next().unwrap_or_default();
        let has_scheme = before.ends_with(|c: char| c.is_ascii_alphabetic());
        let is_known = HOSTS
            .iter()
            .any(|known| format!(".{host}").ends_with(&format!(".{known}")));
        if has_scheme && !is_known && !host.is_empty() {
            let said = format!("a link to `{host}`, which is not in the list of hosts");
            findings.push(Finding::new(path, at, said));
        }
        before = after;
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
    fn persons_are_found_in_comments_and_messages() {
        assert_eq!(
            found("// Whoever waits, `nobody`.\nfn f() { g(\"nobody waits\") }"),
            2
        );
        assert_eq!(
            found("#[cfg(test)]\nfn f() { g(\"nobody waits\") } // fine"),
            0
        );
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

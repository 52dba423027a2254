//! Comments: every file begins with a header, no comment is code, and comments stay wrapped in the
//! modules that have been wrapped so far.

use super::tree::{Finding, Tree};

/// The modules with wrapped comments.
const WRAPPED: &[&str] = &[
    "crates/pirn/src/fiber/jobs/list.rs",
    "crates/pirn/src/par/",
    "crates/pirn/src/sched/worker/heartbeat.rs",
];
/// Maximum width of a line of a comment, except rows of tables.
const WIDTH: usize = 90;

/// Finds files without a header, comments that are code, and lines that are too wide.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &tree.sources {
        if !tree.text(&source.path).starts_with("//!") {
            let said = "the first line must be the header, `//! What this file owns…`";
            findings.push(Finding::new(&source.path, 1, said));
        }
        let comments = source.comments.iter();
        for comment in comments.filter(|c| c.alone && is_code(&c.text)) {
            let said = format!("commented-out code: `{}`", comment.text);
            findings.push(Finding::new(&source.path, comment.line, said));
        }
    }
    let is_wrapped = |path: &str| WRAPPED.iter().any(|start| path.starts_with(start));
    for file in tree.files.iter().filter(|file| is_wrapped(&file.path)) {
        for (at, line) in file.text.lines().enumerate() {
            let columns = line.chars().count();
            if columns > WIDTH && is_text(line) {
                let said = format!("a comment of {columns} columns: wrap it at {WIDTH}");
                findings.push(Finding::new(&file.path, at + 1, said));
            }
        }
    }
    findings
}

/// Returns true for a line of a comment that is not a row of a table.
fn is_text(line: &str) -> bool {
    let line = line.trim_start();
    let text = line.trim_start_matches(['/', '!']).trim_start();
    line.starts_with("//") && !text.starts_with('|')
}

/// Comments that are nothing but brackets.
const BRACKETS: [&str; 6] = ["{", "}", "};", "})", "});", "} else {"];
/// First words of lines that end with a semicolon.
const STATEMENTS: [&str; 9] = [
    "let", "use", "return", "break", "continue", "pub", "mod", "const", "static",
];
const ASSIGNMENTS: [&str; 3] = [" = ", " += ", " -= "];
/// First words of lines that end with a brace.
const BLOCKS: [&str; 15] = [
    "fn", "pub", "if", "for", "while", "loop", "match", "impl", "struct", "enum",
    "unsafe", "mod", "trait", "else", "}",
];

/// Returns true for a plain comment that ends or begins like a statement.
fn is_code(comment: &str) -> bool {
    let plain = comment.strip_prefix("//");
    let Some(plain) = plain.filter(|text| !text.starts_with(['/', '!'])) else {
        return false;
    };
    let text = plain.trim();
    let first = text
        .split([' ', '(', '<', '{', ';'])
        .next()
        .unwrap_or_default();
    let is_statement = |line: &str| {
        STATEMENTS.contains(&first)
            || line.ends_with([')', '?', ']', '}'])
            || ASSIGNMENTS.iter().any(|sign| line.contains(sign))
    };
    let is_block =
        |line: &str| BLOCKS.contains(&first) || line.trim_end().ends_with("=>");
    BRACKETS.contains(&text)
        || text.starts_with("#[") && text.ends_with(']')
        || text.strip_suffix(';').is_some_and(is_statement)
        || text.strip_suffix('{').is_some_and(is_block)
}

//! Comments: every file begins with a header, no comment is code, and comments stay wrapped in the
//! modules that have been wrapped so far.

use super::tree::{Finding, Tree};

/// The modules with wrapped comments.
const WRAPPED: &[&str] = &[
    "crates/pirn/src/fiber/jobs.rs",
    "crates/pirn/src/par/",
    "crates/pirn/src/sched/worker/heartbeat.rs",
];
/// Maximum width of a line of a comment, except rows of tables.
const WIDTH: usize = 90;

/// Finds files without a header, comments that are code, and lines that are too wide.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &tree.sources {
        let opens = source
            .lines
            .first()
            .is_some_and(|l| l.comment.starts_with("//!"));
        if !opens {
            let said = "the first line must be the header, `//! What this file owns…`";
            findings.push(Finding::new(&source.path, 1, said));
        }
        for (at, line) in source.lines.iter().enumerate() {
            if line.code.trim().is_empty() && is_code(&line.comment) {
                let said = format!("commented-out code: `{}`", line.comment.trim());
                findings.push(Finding::new(&source.path, at + 1, said));
            }
        }
    }
    let is_wrapped = |path: &str| WRAPPED.iter().any(|room| path.starts_with(room));
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

/// Returns true for a plain comment that ends or begins like a statement.
fn is_code(comment: &str) -> bool {
    let Some(text) = comment.strip_prefix("//") else {
        return false;
    };
    if text.starts_with(['/', '!']) {
        return false;
    }
    let text = text.trim();
    if matches!(text, "{" | "}" | "};" | "})" | "});" | "} else {") {
        return true;
    }
    if text.starts_with("#[") && text.ends_with(']') {
        return true;
    }
    if let Some(statement) = text.strip_suffix(';') {
        let first = statement.split_whitespace().next().unwrap_or_default();
        const OPENERS: &[&str] = &[
            "let", "use", "return", "break", "continue", "pub", "mod", "const", "static",
        ];
        return OPENERS.contains(&first)
            || statement.ends_with([')', '?', ']', '}'])
            || [" = ", " += ", " -= "]
                .iter()
                .any(|sign| statement.contains(sign));
    }
    if let Some(head) = text.strip_suffix('{') {
        let first = head.split([' ', '(', '<']).next().unwrap_or_default();
        const BLOCKS: &[&str] = &[
            "fn", "pub", "if", "for", "while", "loop", "match", "impl", "struct", "enum",
            "unsafe", "mod", "trait", "else", "}",
        ];
        return BLOCKS.contains(&first) || head.trim_end().ends_with("=>");
    }
    false
}

//! Comments: every file says what it owns before anything else, and no code sleeps in them.

use super::tree::{Finding, Tree};

/// Finds files without a header, and comments that are code.
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
    findings
}

/// True for a plain comment whose text ends or begins as statements do.
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

//! Every wait reason is used: a variant of `wait::reason::Reason` that no waiting code names would
//! never appear in a report.

use super::tree::{Finding, Tree};
use crate::source::{Source, is_word};

const HOME: &str = "crates/pirn/src/wait/reason.rs";

/// Finds variants that are not named outside their file.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(home) = tree.sources.iter().find(|s| s.path == HOME) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (line, variant) in variants(home) {
        let used = tree
            .library()
            .filter(|source| source.path != HOME)
            .flat_map(Source::code)
            .any(|(_, line)| names(&line.code, &variant));
        if !used {
            let said = format!("nothing waits with `Reason::{variant}`");
            findings.push(Finding::new(HOME, line, said));
        }
    }
    findings
}

fn names(code: &str, variant: &str) -> bool {
    code.split("Reason::").skip(1).any(|rest| {
        rest.strip_prefix(variant)
            .is_some_and(|after| !after.starts_with(is_word))
    })
}

/// Returns the variants of `enum Reason`, with their lines.
fn variants(source: &Source) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut depth = 0_i32;
    let mut inside = false;
    for (at, line) in source.code() {
        let code = line.code.trim();
        if !inside {
            inside = code.split_whitespace().skip_while(|w| *w != "enum").nth(1)
                == Some("Reason");
        } else if depth == 1 {
            let name: String = code.chars().take_while(|c| is_word(*c)).collect();
            if name.starts_with(char::is_uppercase) {
                found.push((at, name));
            }
        }
        if inside {
            for c in code.chars() {
                match c {
                    '{' | '(' => depth += 1,
                    '}' | ')' => depth -= 1,
                    _ => {}
                }
            }
            if depth == 0 && code.contains('}') {
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unused_reason_is_found() {
        let home = "//! D.\n/// Why.\n#[derive(Debug)]\npub enum Reason {\n    /// A.\n    Join,\n    \
            Joint { a: u8,\n Deep: u8 },\n    Lock(u8),\n}\nenum Other {\n    No,\n}\n";
        let user = "//! D.\nfn f() { g(Reason::Joint { a: 1 }); h(Reason::Lock(1)) }\n";
        let tree = Tree::of(&[(HOME, home), ("crates/pirn/src/a.rs", user)]);
        let said: Vec<_> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [format!("{HOME}:6: nothing waits with `Reason::Join`")]
        );
    }
}

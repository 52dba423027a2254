//! File budgets: about 150 lines of code is right, 300 is long, 500 is wrong. Comments,
//! blank lines and tests do not count. An example is one idea in 60 lines. All of xtask has a
//! budget too, which may shrink, and grows with a note alone.

use super::tree::{Finding, Tree};
use crate::source::Source;

const LONG: usize = 300;
const WRONG: usize = 500;
const EXAMPLE: usize = 60;
const XTASK: usize = 4_600;

/// Finds files over their budget.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let xtask = tree.sources.iter().filter(|s| s.path.starts_with("xtask/"));
    let xtask: usize = xtask.map(Source::code_lines).sum();
    if xtask > XTASK {
        let said = format!("{xtask} code lines: xtask has at most {XTASK}");
        findings.push(Finding::new("xtask", 0, said));
    }
    for source in &tree.sources {
        let is_example = source.path.contains("/examples/");
        let (lines, all) = (source.code_lines(), source.all_code_lines());
        let said = if is_example && all > EXAMPLE {
            format!("{all} code lines: an example has at most {EXAMPLE}")
        } else if lines > WRONG {
            format!("{lines} code lines: over {WRONG} is wrong, split it")
        } else if lines > LONG {
            let said = format!("{lines} code lines: over {LONG} is long");
            findings.push(Finding::new(&source.path, 0, said).warning());
            continue;
        } else {
            continue;
        };
        findings.push(Finding::new(&source.path, 0, said));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, lines: usize) -> Vec<Finding> {
        let text = format!("//! D.\n\n{}", "// c\n\nfn f() {}\n".repeat(lines));
        check(&Tree::of(&[(path, &text)]))
    }

    #[test]
    fn long_warns_and_wrong_fails() {
        assert!(found("crates/pirn/src/a.rs", 300).is_empty());
        assert!(found("crates/pirn/src/a.rs", 301)[0].only_warns);
        assert!(!found("crates/pirn/src/a.rs", 501)[0].only_warns);
        assert!(found("crates/pirn/src/tests/a.rs", 501).is_empty());
        assert!(!found("crates/pirn/examples/a.rs", 61)[0].only_warns);
        assert_eq!(found("xtask/src/a.rs", XTASK + 1).len(), 2);
    }
}

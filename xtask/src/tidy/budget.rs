//! Budgets. Of a file: about 150 lines of code is right, 300 is long, 500 is wrong. Comments,
//! blank lines and tests do not count. An example is one idea in 60 lines. Of the parts of the
//! repository, folders and structs: each may shrink, and grows with a note alone.

use std::collections::BTreeMap;

use syn::Item;

use super::rings::production;
use super::tree::{Finding, LIBRARY, Tree};
use crate::source::Source;

const LONG: usize = 300;
const WRONG: usize = 500;
const EXAMPLE: usize = 60;

/// Parts of the repository: the name, the directory, and the maximum number of code lines.
const PARTS: &[(&str, &str, usize)] = &[
    ("library", LIBRARY, 48_320),
    ("sched", "crates/pirn/src/sched/", 8_880),
    ("bench", "bench/", 9_320),
    ("xtask", "xtask/", 4_600),
];

/// Maximum number of files in a folder of the library.
const FILES: usize = 15;
/// Maximum number of fields of a struct of the library.
const FIELDS: usize = 16;

/// Finds what is over its budget.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = files(tree);
    for (name, lines, most) in parts(tree).filter(|(_, lines, most)| lines > most) {
        let said = format!("{lines} code lines: {name} has at most {most}");
        findings.push(Finding::new(name, 0, said));
    }
    findings.extend(folders(tree));
    findings.extend(structs(tree));
    findings
}

/// Returns the parts of the repository, with their code lines and the maximum.
pub(super) fn parts(tree: &Tree) -> impl Iterator<Item = (&'static str, usize, usize)> {
    PARTS.iter().map(|(name, start, most)| {
        let sources = tree.sources.iter().filter(|s| s.path.starts_with(start));
        (*name, sources.map(Source::code_lines).sum(), *most)
    })
}

/// Finds files that are over their budget.
fn files(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &tree.sources {
        let lines = source.code_lines();
        let finding = |said| Finding::new(&source.path, 0, said);
        if source.path.contains("/examples/") && source.all_code_lines() > EXAMPLE {
            let all = source.all_code_lines();
            let said = format!("{all} code lines: an example has at most {EXAMPLE}");
            findings.push(finding(said));
        } else if lines > WRONG {
            let said = format!("{lines} code lines: over {WRONG} is wrong, split it");
            findings.push(finding(said));
        } else if lines > LONG {
            let said = format!("{lines} code lines: over {LONG} is long");
            findings.push(finding(said).warning());
        }
    }
    findings
}

/// Finds folders of the library with too many files.
pub(super) fn folders(tree: &Tree) -> Vec<Finding> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for source in production(tree) {
        let (folder, _) = source.path.rsplit_once('/').unwrap_or_default();
        *sizes.entry(folder).or_default() += 1;
    }
    let said = |files| format!("{files} files: a folder has at most {FILES}");
    let large = sizes.into_iter().filter(|(_, files)| *files > FILES);
    large
        .map(|(folder, files)| Finding::new(folder, 0, said(files)))
        .collect()
}

/// Finds structs of the library with too many fields.
pub(super) fn structs(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in production(tree) {
        for item in &source.items {
            if let Item::Struct(item) = item
                && item.fields.len() > FIELDS
            {
                let (name, fields) = (&item.ident, item.fields.len());
                let said = format!("{name}: {fields} fields, at most {FIELDS}");
                findings.push(Finding::new(&source.path, 0, said));
            }
        }
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
    }

    #[test]
    fn parts_folders_and_structs_have_budgets() {
        let (_, _, most) = PARTS[3];
        assert_eq!(found("xtask/src/a.rs", most + 1).len(), 2);
        let fields: String = (0..=FIELDS).map(|n| format!("f{n}: u8,")).collect();
        let large = format!("//! D.\nstruct A {{ {fields} }}\n");
        let names = (0..=FILES).map(|n| format!("crates/pirn/src/a/f{n}.rs"));
        let names: Vec<_> = names.collect();
        let mut files: Vec<_> = names.iter().map(|n| (n.as_str(), "//! D.\n")).collect();
        assert_eq!(check(&Tree::of(&files[1..])).len(), 0);
        assert_eq!(check(&Tree::of(&files)).len(), 1);
        files[0].1 = &large;
        assert_eq!(check(&Tree::of(&files[..1])).len(), 1);
    }
}

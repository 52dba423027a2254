//! Every chapter of the guide is in the list of its README and in the documentation, has the title
//! of that list, and links to the chapters before and after it.

use super::tree::{Finding, Tree};

const HOME: &str = "crates/pirn/guide/";
const LIST: &str = "crates/pirn/guide/README.md";
const MODULES: &str = "crates/pirn/src/guide/mod.rs";

/// Finds chapters without a place.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let listed: Vec<_> = tree.text(LIST).lines().filter_map(entry).collect();
    let mut findings = Vec::new();
    let chapters = tree.files.iter().filter(|file| file.path != LIST);
    for file in chapters.filter(|file| file.path.ends_with(".md")) {
        let Some(name) = file.path.strip_prefix(HOME) else {
            continue;
        };
        let mut check = |holds: bool, path: &str, said: String| {
            if !holds {
                findings.push(Finding::new(path, 0, said));
            }
        };
        let module = format!("pub mod {};", name.trim_end_matches(".md"));
        let has_module = tree.text(MODULES).lines().any(|line| line == module);
        check(has_module, MODULES, format!("no `{module}` for {name}"));
        let Some(at) = listed.iter().position(|(_, file)| *file == name) else {
            check(false, LIST, format!("{name} is not in the list"));
            continue;
        };
        let title = format!("# {}: ", listed[at].0);
        let has_title = file.text.starts_with(&title);
        check(
            has_title,
            &file.path,
            format!("the title must begin with `{title}`"),
        );
        let link = |word: &str, at: Option<usize>| {
            let (title, file) = listed.get(at?)?;
            Some(format!("{word}: [{title}][{file}] · "))
        };
        let before = link("Previous", at.checked_sub(1)).unwrap_or_default();
        let after = link("Next", Some(at + 1)).unwrap_or_default();
        let links = format!("{before}{after}[Contents][README.md]");
        let has_links = file.text.lines().any(|line| line == links);
        check(has_links, &file.path, format!("no line `{links}`"));
    }
    findings
}

/// Reads `1. [Title][file]` or `* [Title: more][file]`.
fn entry(line: &str) -> Option<(&str, &str)> {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == '*');
    let rest = number.trim_start_matches('.').strip_prefix(" [")?;
    let (title, rest) = rest.split_once("][")?;
    Some((title.split(": ").next()?, rest.split_once(']')?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_without_a_place_is_found() {
        let list =
            "# The guide\n\n1. [One][one.md]: first.\n* [From `x`: to y][two.md]\n";
        let one = "# One: a\n\nNext: [From `x`][two.md] · [Contents][README.md]\n";
        let two = "# From `x`: b\n\nPrevious: [One][one.md] · [Contents][README.md]\n";
        let modules = "pub mod one;\npub mod two;\n";
        let found = |list: &str, one: &str, modules: &str| {
            let [a, b] = ["one.md", "two.md"].map(|name| format!("{HOME}{name}"));
            let files = [(LIST, list), (&a, one), (&b, two), (MODULES, modules)];
            check(&Tree::of(&files)).len()
        };
        assert_eq!(found(list, one, modules), 0);
        assert_eq!(found(list, &one.replace("One", "Two"), modules), 1);
        assert_eq!(found(list, &one.replace("Next", "Then"), modules), 1);
        assert_eq!(found(list, one, "pub mod one;\n"), 1);
        // Not in the list, and not the chapter before the other.
        assert_eq!(found("* [From `x`][two.md]\n", one, modules), 2);
    }
}

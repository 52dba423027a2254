//! `cargo xtask tidy --report`: figures of the repository, one a line.

use std::collections::BTreeMap;

use syn::Item;

use super::rings::{production, rings};
use super::tree::{LIBRARY, Tree};
use super::{checkers, docs, unsafe_list};
use crate::source::Source;
use crate::tally::Tally;
use crate::{command, matrix, repo};

/// A figure: what it counts, and its value.
type Figure = (String, String);

/// A folder with more files is listed.
const FILES: usize = 15;
/// A struct with more fields is listed.
const FIELDS: usize = 16;

/// Counts the public items with an example, by file; for the toolchain of rust-toolchain.toml.
const COVERAGE: &str = "rustdoc --quiet --package pirn --lib --all-features -- -Zunstable-options --show-coverage";

/// Prints the figures.
///
/// # Errors
/// When the files cannot be read or parsed, or the documentation cannot be built.
pub(crate) fn report() -> Result<Tally, String> {
    let figures = figures(&Tree::new(repo::files()?)?);
    for (what, value) in &figures {
        println!("    {what:<40} {value}");
    }
    command::run(&mut matrix::cargo(COVERAGE, "--cfg docsrs"))?;
    Ok(Tally {
        passed: figures.len(),
        ..Tally::default()
    })
}

fn figures(tree: &Tree) -> Vec<Figure> {
    let mut figures = code_lines(tree);
    figures.push((
        "modules with unsafe code".to_owned(),
        format!(
            "{}, in docs/unsafe.md {}",
            unsafe_list::expected(tree).len(),
            unsafe_list::listed(tree).len()
        ),
    ));
    figures.extend(folders(tree));
    figures.extend(structs(tree));
    let rings = rings(tree);
    figures.push(("rings of files".to_owned(), rings.len().to_string()));
    for ring in rings {
        let names: Vec<_> = ring.into_iter().collect();
        figures.push((format!("ring of {}", names.len()), names.join(" ")));
    }
    figures.push((
        "design chapters".to_owned(),
        docs::chapters(tree).count().to_string(),
    ));
    figures.push((
        "files that name loom or shuttle".to_owned(),
        checkers::check(tree).len().to_string(),
    ));
    figures
}

/// Code without comments and empty lines.
fn code_lines(tree: &Tree) -> Vec<Figure> {
    let sum = |start: &str, lines: fn(&Source) -> usize| {
        let sources = tree.sources.iter().filter(|s| s.path.starts_with(start));
        sources.map(lines).sum::<usize>().to_string()
    };
    [
        ("library", sum(LIBRARY, Source::code_lines)),
        ("sched", sum("crates/pirn/src/sched/", Source::code_lines)),
        ("bench", sum("bench/", Source::code_lines)),
        ("xtask", sum("xtask/", Source::code_lines)),
        ("xtask with tests", sum("xtask/", Source::all_code_lines)),
    ]
    .map(|(what, lines)| (format!("code lines, {what}"), lines))
    .to_vec()
}

/// The folders of the library with too many files.
fn folders(tree: &Tree) -> Vec<Figure> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for source in production(tree) {
        let (folder, _) = source.path.rsplit_once('/').unwrap_or_default();
        *sizes.entry(folder).or_default() += 1;
    }
    sizes.retain(|_, files| *files > FILES);
    let all = format!("folders with over {FILES} files");
    let mut figures = vec![(all, sizes.len().to_string())];
    for (folder, files) in sizes {
        figures.push((format!("files in {folder}"), files.to_string()));
    }
    figures
}

/// The largest structs of the library.
fn structs(tree: &Tree) -> Vec<Figure> {
    let mut figures = vec![(format!("structs with over {FIELDS} fields"), String::new())];
    for source in production(tree) {
        for item in &source.items {
            if let Item::Struct(item) = item
                && item.fields.len() > FIELDS
            {
                let (fields, place) = (item.fields.len(), &source.path[LIBRARY.len()..]);
                let what = format!("fields of {}", item.ident);
                figures.push((what, format!("{fields} ({place})")));
            }
        }
    }
    figures[0].1 = (figures.len() - 1).to_string();
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, what: &str) -> String {
        let tree = Tree::of(&[("crates/pirn/src/a/b.rs", text)]);
        let figure = figures(&tree).into_iter().find(|(name, _)| name == what);
        figure.map(|(_, value)| value).unwrap_or_default()
    }

    #[test]
    fn models_and_large_structs_are_counted() {
        let fields: String = (0..17).map(|n| format!("f{n}: u8,")).collect();
        let text = format!("#[cfg(loom)]\nstruct A {{ {fields} }}\n");
        assert_eq!(value(&text, "fields of A"), "17 (a/b.rs)");
        assert_eq!(value(&text, "files that name loom or shuttle"), "1");
    }
}

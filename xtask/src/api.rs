//! `cargo xtask api`: the public API of each published library, as a file in docs/public-api.
//!
//! A file has one line for each item, with its signature, in the order of rustdoc. A change that is
//! not in the file fails until `cargo xtask api --save` writes it, and that needs an entry about
//! the item in CHANGELOG.md: the diff of the file shows a reviewer what users will notice.

use std::collections::BTreeSet;

use public_api::Builder;

use crate::options::Options;
use crate::packages::published;
use crate::source::is_word;
use crate::tally::Tally;
use crate::{command, matrix, repo};

const FOLDER: &str = "docs/public-api";
const CHANGELOG: &str = "CHANGELOG.md";

/// Automatic traits of the compiler that say nothing to users.
const INTERNAL: [&str; 2] = ["core::marker::Freeze", "core::marker::UnsafeUnpin"];

/// A line of a file, and the words that an entry about it must have.
type Line = (String, Vec<String>);

/// Compares the files with the libraries; with `--save`, writes them.
///
/// # Errors
/// When a library cannot be built, or no entry of the changelog names what is written.
pub(crate) fn api(options: &Options) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let changelog = repo::read(CHANGELOG)?;
    for (name, text) in texts()? {
        let path = format!("{FOLDER}/{name}.txt");
        let listed = repo::read(&path).unwrap_or_default();
        let changes = changes(&listed, &text);
        let is_unsaid = |(_, words): &&Line| !is_named(&changelog, words);
        let unsaid = changes.iter().filter(is_unsaid);
        let unsaid: Vec<_> = unsaid.map(|(line, _)| line.as_str()).collect();
        if options.has("save") && !listed.is_empty() && !unsaid.is_empty() {
            let unsaid = unsaid.join("\n");
            return Err(format!(
                "no entry in {CHANGELOG}, Unreleased, names\n{unsaid}"
            ));
        }
        if options.has("save") {
            repo::write(&path, &text)?;
        } else {
            for (line, _) in &changes {
                println!("      {line}");
            }
        }
        tally += Tally::printed(options.has("save") || listed == text, path);
    }
    if tally.failed > 0 {
        println!("    write an entry in {CHANGELOG}, then `cargo xtask api --save`");
    }
    tally.nonzero("libraries")
}

/// Returns the name and the API of each published crate that has a library and no program.
fn texts() -> Result<Vec<(String, String)>, String> {
    let mut published = published()?;
    published.retain(|package| {
        let targets = package["targets"].as_array().into_iter().flatten();
        let kinds = targets.flat_map(|t| t["kind"].as_array()).flatten();
        let has = |wanted: &str| kinds.clone().any(|kind| kind == wanted);
        has("lib") && !has("bin")
    });
    let names = published.iter().filter_map(|p| p["name"].as_str());
    let names: Vec<_> = names.collect();
    let packages = names.iter().map(|name| format!(" --package {name}"));
    let packages: String = packages.collect();
    let args = format!("doc --quiet --no-deps --lib --all-features{packages}");
    // The JSON of rustdoc is not stable: its version is that of the pinned toolchain.
    let mut cargo = matrix::cargo(&args, "-Zunstable-options --output-format json");
    command::run(&mut cargo)?;
    let text = |name: &&str| {
        let json = repo::target(Some(matrix::FOLDER))
            .join(format!("doc/{}.json", name.replace('-', "_")));
        let api = Builder::from_rustdoc_json(&json)
            .omit_blanket_impls(true)
            .build();
        let api = api.map_err(|e| format!("{}: {e}", json.display()))?;
        let lines = api.items().map(|item| format!("{item}\n"));
        let lines = lines.filter(|line| !INTERNAL.iter().any(|name| line.contains(name)));
        Ok(((*name).to_owned(), lines.collect()))
    };
    names.iter().map(text).collect()
}

/// Returns the lines that one of the texts has alone, with `+` or `-` before them.
fn changes(old: &str, new: &str) -> Vec<Line> {
    let (old, new) = (lines(old), lines(new));
    let gone = old.difference(&new).map(|line| ('-', line));
    let added = new.difference(&old).map(|line| ('+', line));
    let marked =
        |(mark, (line, words)): (char, &Line)| (format!("{mark} {line}"), words.clone());
    gone.chain(added).map(marked).collect()
}

/// Returns the lines of a text with their words: a function or variant needs the words of its type
/// and its own, an implementation of a trait and its functions those of the type alone.
fn lines(text: &str) -> BTreeSet<Line> {
    let mut of_a_trait = false;
    let line = |line: &str| {
        let is_impl = line.starts_with("impl") || line.starts_with("unsafe impl");
        let mut words = line.split(' ');
        let is_head =
            words.any(|word| ["struct", "enum", "union", "trait"].contains(&word));
        if is_impl || is_head {
            of_a_trait = is_impl && line.contains(" for ");
        }
        let item = line.split(" where ").next().unwrap_or_default();
        let item = if is_impl {
            item.rsplit(" for ").next()
        } else {
            Some(item)
        };
        let mut path = path_of(item.unwrap_or_default());
        let typed = path
            .iter()
            .position(|word| word.starts_with(char::is_uppercase));
        path.drain(..typed.unwrap_or(path.len().saturating_sub(1)));
        if of_a_trait && typed.is_some() {
            path.truncate(1);
        }
        (line.to_owned(), path)
    };
    text.lines().map(line).collect()
}

/// Returns the words of the first path of a line that begins with a library of ours, without its
/// generic arguments.
fn path_of(item: &str) -> Vec<String> {
    let from = item.find("pirn").map_or("", |at| &item[at..]);
    let mut depth = 0_usize;
    let mut path = String::new();
    for c in from.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ if is_word(c) || c == ':' => path.push(c),
            _ => break,
        }
    }
    let words = path.split("::").map(|word| word.trim_end_matches(':'));
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns true if an entry under the heading of the next release has all words.
fn is_named(changelog: &str, words: &[String]) -> bool {
    let mut sections = changelog.split("\n## ");
    let next = sections.find(|section| section.starts_with("Unreleased"));
    next.unwrap_or_default().split("\n* ").any(|entry| {
        let said: BTreeSet<_> = entry.split(|c| !is_word(c)).collect();
        words.iter().all(|word| said.contains(word.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "pub mod pirn::m\npub struct pirn::m::B<T>(_)\n\
        impl<T> pirn::m::B<T>\npub fn pirn::m::B<T>::c(&self) -> pirn::m::A\n\
        impl<T> core::clone::Clone for pirn::m::B<T>\n\
        pub fn pirn::m::B<T>::clone(&self) -> pirn::m::B<T>\n\
        pub enum pirn::m::H\npub pirn::m::H::I\n\
        pub fn pirn::m::f(n: usize)\n";

    fn words(text: &str, start: &str) -> String {
        let all = lines(text);
        let found = all.iter().find(|(line, _)| line.starts_with(start));
        found.map(|(_, words)| words.join(" ")).unwrap_or_default()
    }

    #[test]
    fn a_line_has_the_words_of_its_item() {
        assert_eq!(words(OLD, "pub mod"), "m");
        assert_eq!(words(OLD, "pub struct"), "B");
        assert_eq!(words(OLD, "pub fn pirn::m::B<T>::c("), "B c");
        assert_eq!(words(OLD, "impl<T> core"), "B");
        assert_eq!(words(OLD, "pub fn pirn::m::B<T>::clone"), "B");
        assert_eq!(words(OLD, "pub fn pirn::m::f"), "f");
        assert_eq!(
            words(
                "impl<'a, T: 'a> pirn::E<'a> for pirn::m::G<'a, T>\n",
                "impl"
            ),
            "G"
        );
        assert_eq!(words(OLD, "pub pirn::m::H::I"), "H I");
    }

    #[test]
    fn a_changed_signature_is_found() {
        assert!(changes(OLD, OLD).is_empty());
        let new = OLD.replace("n: usize", "n: u64");
        let said: Vec<_> = changes(OLD, &new)
            .into_iter()
            .map(|(line, _)| line)
            .collect();
        assert_eq!(
            said,
            [
                "- pub fn pirn::m::f(n: usize)",
                "+ pub fn pirn::m::f(n: u64)"
            ]
        );
    }

    #[test]
    fn a_change_needs_an_entry() {
        let is_named = |entries: &str| {
            let text =
                format!("# C\n\n## Unreleased\n\n{entries}\n## 0.1\n\n* All: `B`, `c`\n");
            is_named(&text, &["B".to_owned(), "c".to_owned()])
        };
        assert!(is_named("* `B` has `c`.\n"));
        assert!(!is_named("* `B` has more.\n* `A` has `c`.\n"));
    }
}

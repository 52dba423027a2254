//! Rings of files in the library: files that name each other in a circle.
//!
//! A `mod.rs` has no items (`facade`), so a path that leads to one goes on to the file from which
//! it re-exports the name. Tests are left out.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Item, UseTree};

use super::attributes;
use super::graph::Graph;
use super::paths::{absolute, module, paths};
use super::tree::{Finding, LIBRARY, Tree};
use crate::source::Source;

/// Finds rings.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let rings = rings(tree).into_iter();
    rings
        .map(|ring| {
            let names: Vec<_> = ring.into_iter().collect();
            let said = format!("name each other in a circle: {}", names.join(", "));
            Finding::new(LIBRARY, 0, said)
        })
        .collect()
}

/// Returns the rings, as paths below the library's directory.
fn rings(tree: &Tree) -> Vec<BTreeSet<&str>> {
    let modules = Modules::new(tree);
    let mut graph = Graph::default();
    for source in production(tree).filter(|source| !is_facade(source)) {
        for path in paths(source) {
            let targets = modules.files(&[], &path.segments, DEPTH);
            // The other files of its own module are never built with it.
            if targets.iter().any(|target| target.path == source.path) {
                continue;
            }
            for target in targets {
                let target = &target.path[LIBRARY.len()..];
                graph.add(&source.path[LIBRARY.len()..], target);
            }
        }
    }
    graph.rings()
}

/// Returns the library's files without those of tests.
pub(super) fn production(tree: &Tree) -> impl Iterator<Item = &Source> {
    tree.library().filter(|source| !source.is_test_file())
}

/// Maximum number of re-exports from the use of a name to its item.
const DEPTH: u8 = 8;

fn is_facade(source: &Source) -> bool {
    source.path.ends_with("/mod.rs") || source.path.ends_with("/lib.rs")
}

/// A name that a façade exports; `*` for all names of a module. With its path from the root.
type Export = (String, Vec<String>);

/// The modules of the library by their paths from the root.
struct Modules<'a> {
    /// Several where a platform or a feature decides.
    files: BTreeMap<Vec<String>, Vec<&'a Source>>,
    exports: BTreeMap<Vec<String>, Vec<Export>>,
}

impl<'a> Modules<'a> {
    fn new(tree: &'a Tree) -> Modules<'a> {
        let by_path: BTreeMap<_, _> =
            production(tree).map(|s| (s.path.as_str(), s)).collect();
        let mut modules = Modules {
            files: production(tree).map(|s| (module(s), vec![s])).collect(),
            exports: BTreeMap::new(),
        };
        for facade in production(tree).filter(|source| is_facade(source)) {
            let here = module(facade);
            let folder = facade
                .path
                .rsplit_once('/')
                .map_or("", |(folder, _)| folder);
            let mut exports = Vec::new();
            for item in &facade.items {
                match item {
                    Item::Use(item) => leaves(&item.tree, Vec::new(), &mut exports),
                    Item::Mod(item) => {
                        let file = attributes::file(item);
                        let path = file.map(|file| format!("{folder}/{file}.rs"));
                        let file = path.and_then(|path| by_path.get(path.as_str()));
                        let name = absolute(&here, &[&item.ident.to_string()]);
                        modules.files.entry(name).or_default().extend(file);
                    }
                    _ => {}
                }
            }
            for (_, path) in &mut exports {
                let names: Vec<_> = path.iter().map(String::as_str).collect();
                *path = absolute(&here, &names);
            }
            modules.exports.insert(here, exports);
        }
        modules
    }

    /// Returns the files with the item that `names` leads to from `module`, after at most `left`
    /// re-exports; none for a name from elsewhere.
    fn files(&self, module: &[String], names: &[String], left: u8) -> Vec<&'a Source> {
        let here = self.files.get(module).into_iter().flatten().copied();
        let Some((name, rest)) = names.split_first() else {
            return here.filter(|source| !is_facade(source)).collect();
        };
        let child = [module, &names[..1]].concat();
        if self.files.contains_key(&child) {
            return self.files(&child, rest, left);
        }
        let exports = self.exports.get(module).into_iter().flatten();
        let exports: Vec<_> = exports.filter(|_| left > 0).collect();
        let named = exports.iter().find(|(exported, _)| exported == name);
        if let Some((_, path)) = named {
            return self.files(&[], &[path.as_slice(), rest].concat(), left - 1);
        }
        let globs = exports.iter().filter(|(exported, _)| exported == "*");
        let found: Vec<_> = globs
            .flat_map(|(_, path)| {
                self.files(&[], &[path.as_slice(), names].concat(), left - 1)
            })
            .collect();
        if found.is_empty() {
            return here.filter(|source| !is_facade(source)).collect();
        }
        found
    }
}

/// Appends the names of a `use` line, with their paths as written.
fn leaves(tree: &UseTree, mut prefix: Vec<String>, found: &mut Vec<Export>) {
    let mut add = |name: String, last: String| {
        if last == "self" {
            found.extend(prefix.last().cloned().map(|name| (name, prefix.clone())));
        } else {
            found.push((name, [prefix.as_slice(), &[last]].concat()));
        }
    };
    match tree {
        UseTree::Name(name) => add(name.ident.to_string(), name.ident.to_string()),
        UseTree::Rename(name) => add(name.rename.to_string(), name.ident.to_string()),
        UseTree::Glob(_) => found.push(("*".to_owned(), prefix)),
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            leaves(&path.tree, prefix, found);
        }
        UseTree::Group(group) => {
            for item in &group.items {
                leaves(item, prefix.clone(), found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let path = |(path, text): &(&str, &str)| {
            (format!("{LIBRARY}{path}"), (*text).to_owned())
        };
        let files: Vec<_> = files.iter().map(path).collect();
        let files: Vec<_> = files
            .iter()
            .map(|(p, t)| (p.as_str(), t.as_str()))
            .collect();
        let tree = Tree::of(&files);
        let rings = rings(&tree).into_iter();
        rings
            .map(|ring| ring.into_iter().map(str::to_owned).collect())
            .collect()
    }

    #[test]
    fn a_ring_through_a_facade_is_found() {
        let facade = (
            "a/mod.rs",
            "mod b;\nmod c;\npub(crate) use b::{B as Renamed};\n",
        );
        let (b, c) = (
            ("a/b.rs", "use super::c::C;\n"),
            ("a/c.rs", "use crate::a::Renamed;\n"),
        );
        assert_eq!(found(&[facade, b, c]), [["a/b.rs", "a/c.rs"]]);
        let downwards = ("a/c.rs", "use std::fmt;\nuse crate::a::Other;\n");
        assert!(found(&[facade, b, downwards]).is_empty());
    }

    #[test]
    fn a_module_has_the_files_of_its_attributes() {
        let facade = (
            "a/mod.rs",
            "#[cfg(x)]\n#[path = \"c.rs\"]\nmod imp;\nmod b;\npub use imp::*;\n",
        );
        let (b, c) = (
            ("a/b.rs", "use super::C;\n"),
            ("a/c.rs", "use super::b::B;\n"),
        );
        assert_eq!(found(&[facade, b, c]), [["a/b.rs", "a/c.rs"]]);
    }
}

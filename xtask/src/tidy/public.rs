//! The public functions, types and traits of the library are listed in docs/public-api.txt.
//!
//! A new or missing one fails until `cargo xtask tidy --save` writes the list, and that needs an
//! entry about it in CHANGELOG.md. Fields, variants, macros and implementations of traits are not
//! in the list.

use std::collections::BTreeSet;

use syn::{Attribute, Ident, ImplItem, Item, TraitItem, Type, Visibility};

use super::layers::top_module;
use super::rings::production;
use super::tree::{Finding, Tree};
use crate::repo;
use crate::source::is_word;

const LIST: &str = "docs/public-api.txt";
const CHANGELOG: &str = "CHANGELOG.md";
const HEAD: &str =
    "# Public functions, types and traits, by module: `cargo xtask tidy --save`\n";

/// Code that users reach through the module `dev` alone, which is not part of the interface.
const HIDDEN: [&str; 4] = [
    "crates/pirn/src/dev",
    "crates/pirn/src/readiness/number.rs",
    "crates/pirn/src/base/choice.rs",
    "crates/pirn/src/sched/deterministic/run.rs",
];

/// A public function, type or trait.
pub(super) struct Public<'a> {
    pub(super) module: String,
    /// `Type` or `Type::function`, without the module.
    name: String,
    pub(super) attributes: &'a [Attribute],
}

/// Returns those of the library.
pub(super) fn items(tree: &Tree) -> Vec<Public<'_>> {
    let files = production(tree)
        .filter(|source| !HIDDEN.iter().any(|hidden| source.path.starts_with(hidden)));
    let items = files.flat_map(|source| {
        let module = top_module(source).unwrap_or_else(|| "lib.rs".to_owned());
        let found = source.items.iter().flat_map(public);
        found.map(move |(name, attributes)| Public {
            module: module.clone(),
            name,
            attributes,
        })
    });
    items.collect()
}

/// Compares the list with the library.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let (listed, present) = (listed(tree), present(tree));
    let changed = listed.symmetric_difference(&present).map(|name| {
        let change = if listed.contains(name) { "gone" } else { "new" };
        let said = format!(
            "`{name}` is {change}: write an entry in {CHANGELOG}, then `cargo xtask tidy --save`"
        );
        Finding::new(LIST, 0, said)
    });
    changed.collect()
}

/// Writes the list.
///
/// # Errors
/// When no entry of the changelog names an item that is new or gone.
pub(super) fn save(tree: &Tree) -> Result<(), String> {
    let (listed, present) = (listed(tree), present(tree));
    let changed = listed.symmetric_difference(&present);
    let silent: Vec<_> = changed
        .filter(|name| !is_named(tree, name))
        .cloned()
        .collect();
    if !listed.is_empty() && !silent.is_empty() {
        return Err(format!(
            "no entry in {CHANGELOG}, Unreleased, names {}",
            silent.join(", ")
        ));
    }
    let lines: String = present.iter().map(|name| format!("{name}\n")).collect();
    repo::write(LIST, &format!("{HEAD}{lines}"))
}

/// Returns true if an entry under the heading of the next release has all words of the name.
fn is_named(tree: &Tree, name: &str) -> bool {
    let sections = tree.text(CHANGELOG).split("\n## ");
    let mut next = sections.filter(|section| section.starts_with("Unreleased"));
    let (_, name) = name.split_once("::").unwrap_or_default();
    next.next().unwrap_or_default().split("\n* ").any(|entry| {
        let words: BTreeSet<_> = entry.split(|c| !is_word(c)).collect();
        name.split("::").all(|word| words.contains(word))
    })
}

fn listed(tree: &Tree) -> BTreeSet<String> {
    let lines = tree
        .text(LIST)
        .lines()
        .filter(|line| !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

fn present(tree: &Tree) -> BTreeSet<String> {
    let items = items(tree).into_iter();
    items
        .map(|item| format!("{}::{}", item.module, item.name))
        .collect()
}

/// Returns the names and attributes of the public functions and types in an item. `pub` alone is
/// public: the lint `unreachable_pub` has the others written otherwise.
fn public(item: &Item) -> Vec<(String, &[Attribute])> {
    let own: Option<(&Visibility, &Ident, &[Attribute])> = match item {
        Item::Fn(item) => Some((&item.vis, &item.sig.ident, &item.attrs)),
        Item::Struct(item) => Some((&item.vis, &item.ident, &item.attrs)),
        Item::Enum(item) => Some((&item.vis, &item.ident, &item.attrs)),
        Item::Type(item) => Some((&item.vis, &item.ident, &item.attrs)),
        Item::Trait(item) => Some((&item.vis, &item.ident, &item.attrs)),
        _ => None,
    };
    let own = own.map(|(vis, name, attributes)| (vis, name.to_string(), attributes));
    let mut found: Vec<_> = own.into_iter().collect();
    match item {
        // Its functions are as public as it is.
        Item::Trait(home) => {
            for item in &home.items {
                if let TraitItem::Fn(item) = item {
                    let name = format!("{}::{}", home.ident, item.sig.ident);
                    found.push((&home.vis, name, &item.attrs));
                }
            }
        }
        Item::Impl(home) => {
            for item in &home.items {
                if let ImplItem::Fn(item) = item {
                    let name =
                        format!("{}::{}", self_type(&home.self_ty), item.sig.ident);
                    found.push((&item.vis, name, &item.attrs));
                }
            }
        }
        _ => {}
    }
    found.retain(|(vis, _, attributes)| {
        matches!(vis, Visibility::Public(_)) && !attributes.iter().any(is_hidden)
    });
    let found = found.into_iter();
    found
        .map(|(_, name, attributes)| (name, attributes))
        .collect()
}

fn self_type(of: &Type) -> String {
    let last = match of {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    last.map_or_else(|| "?".to_owned(), |last| last.ident.to_string())
}

fn is_hidden(attribute: &Attribute) -> bool {
    let list = attribute.meta.require_list();
    list.is_ok_and(|list| {
        list.path.is_ident("doc") && list.tokens.to_string() == "hidden"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "pub fn a() {}\npub struct B<T>(T);\nimpl<T> B<T> {\n pub fn c(&self) {}\n \
        pub(crate) fn d(&self) {}\n}\npub trait E {\n fn f(&self);\n}\n#[doc(hidden)]\npub fn g() {}\n";

    fn tree(list: &str, changes: &str) -> Tree {
        let changes =
            format!("# C\n\n## Unreleased\n\n{changes}\n## 0.1\n\n* All: a B c E f\n");
        let code = ("crates/pirn/src/m/n.rs", CODE);
        Tree::of(&[code, (LIST, list), (CHANGELOG, &changes)])
    }

    #[test]
    fn a_change_is_found() {
        assert!(check(&tree("m::B\nm::B::c\nm::E\nm::E::f\nm::a\n", "")).is_empty());
        let said = check(&tree("# c\nm::B\nm::B::c\nm::E\nm::E::f\nm::x\n", ""));
        assert_eq!(said.len(), 2);
        assert!(said[0].message.starts_with("`m::a` is new"), "{said:?}");
        assert!(said[1].message.starts_with("`m::x` is gone"), "{said:?}");
    }

    #[test]
    fn a_change_needs_an_entry() {
        let is_named = |changes| is_named(&tree("", changes), "m::B::c");
        assert!(is_named("* `B` has `c`.\n"));
        assert!(!is_named("* `B` has more.\n* `A` has `c`.\n"));
        assert!(save(&tree("m::B\nm::a\n", "* `B` has `c`.\n")).is_err());
    }
}

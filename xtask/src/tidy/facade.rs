//! A `mod.rs` is a façade: docs, attributes, `mod x;` lines and `use` lines, nothing else.
//! The contents of a folder are in the files of its listing.

use syn::Item;
use syn::spanned::Spanned as _;

use super::tree::{Finding, Tree};
use crate::source::Source;

/// Finds items in `mod.rs` files.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let is_facade =
        |s: &&Source| s.path.ends_with("/mod.rs") && !s.path.contains("/tests/");
    let facades = tree.sources.iter().filter(is_facade);
    facades.filter_map(first_item).collect()
}

fn first_item(source: &Source) -> Option<Finding> {
    let is_allowed = |item: &&Item| match item {
        Item::Use(_) => true,
        Item::Mod(module) => module.content.is_none(),
        _ => false,
    };
    let item = source.items.iter().find(|item| !is_allowed(item))?;
    let said = "an item in a façade, which has `mod x;` and `use` lines alone";
    let line = item.span().start().line;
    Some(Finding::new(&source.path, line, said))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        check(&Tree::of(&[("crates/pirn/src/a/mod.rs", text)])).len()
    }

    #[test]
    fn modules_and_imports_pass() {
        let text = "//! Docs.\n\n#![expect(x, reason = \"y; fn z\")]\n#[cfg(any(loom, shuttle))]\n\
            #[path = \"b.rs\"]\nmod imp;\npub mod c;\npub(crate) use imp::{\n  d,\n  e::{f, g},\n};\n\
            use c::*;\n#[cfg(test)]\nmod tests;\n";
        assert_eq!(found(text), 0);
    }

    #[test]
    fn items_are_found() {
        for item in [
            "pub fn f() {}",
            "struct S;",
            "mod inline { }",
            "const A: u8 = 1;",
            "macro_rules! m { () => {} }",
            "impl A for B {}",
            "pub(crate) static X: u8 = 0;",
        ] {
            assert_eq!(found(&format!("//! D.\nmod a;\n{item}\n")), 1, "{item}");
        }
    }
}

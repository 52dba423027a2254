//! A `mod.rs` is a façade: docs, attributes, `mod x;` lines and `use` lines, nothing else.
//! The contents of a folder are in the files of its listing.

use super::tree::{Finding, Tree};
use crate::source::Source;

/// Finds items in `mod.rs` files.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.sources
        .iter()
        .filter(|s| s.path.ends_with("/mod.rs") && !s.path.contains("/tests/"))
        .filter_map(first_item)
        .collect()
}

fn first_item(source: &Source) -> Option<Finding> {
    // Depth inside an attribute's or a use group's brackets, and the kind of bracket.
    let mut depth = 0_i32;
    let mut statement = String::new();
    for (at, line) in source.lines.iter().enumerate() {
        for c in line.code.chars() {
            statement.push(c);
            match c {
                '[' | '(' | '{' => depth += 1,
                ']' | ')' | '}' => depth -= 1,
                _ => {}
            }
            let text = statement.trim();
            let ends_attribute = depth == 0 && c == ']' && text.starts_with('#');
            if ends_attribute {
                statement.clear();
            } else if (c == ';' && depth == 0) || (c == '{' && depth == 1) {
                if !is_door(text) {
                    let said = format!("an item in a façade: `{text}`");
                    return Some(Finding::new(&source.path, at + 1, said));
                }
                if c == ';' {
                    statement.clear();
                }
            }
        }
        statement.push(' ');
    }
    None
}

/// Returns true for `mod name;` and for `use …`, with any visibility.
fn is_door(statement: &str) -> bool {
    let mut rest = statement;
    if let Some(after) = rest.strip_prefix("pub") {
        rest = after.trim_start();
        if rest.starts_with('(') {
            rest = rest
                .split_once(')')
                .map_or("", |(_, after)| after.trim_start());
        }
    }
    if rest.starts_with("use ") {
        return true;
    }
    rest.starts_with("mod ") && rest.ends_with(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        check(&Tree::of(&[("crates/pirn/src/a/mod.rs", text)])).len()
    }

    #[test]
    fn doors_pass() {
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

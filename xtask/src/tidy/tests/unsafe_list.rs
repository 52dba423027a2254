//! The unsafe rule compares in both directions.

use crate::tidy::tree::Tree;
use crate::tidy::unsafe_list::{LIST, check};

const EXPECT: &str = "#[expect(unsafe_code, reason = \"r\")]";

fn found(list: &str, path: &str, text: &str) -> Vec<String> {
    let list = format!("| Module | Why |\n|--|--|\n{list}");
    let tree = Tree::of(&[(LIST, &list), (path, text)]);
    check(&tree).iter().map(ToString::to_string).collect()
}

#[test]
fn a_listed_module_passes() {
    let text = format!("{EXPECT}\n#[cfg(x)]\npub(crate) mod b;\n");
    assert!(found("| `a::b` | r |\n", "crates/pirn/src/a/mod.rs", &text).is_empty());
    let text = "#[expect(\n    unsafe_code,\n    reason = \"r\"\n)]\nmod b;\n";
    assert!(found("| `a::b` | r |\n", "crates/pirn/src/a/mod.rs", text).is_empty());
    let text = format!("#[path = \"c.rs\"]\n{EXPECT}\nmod imp;\n");
    assert!(found("| `a::c` | r |\n", "crates/pirn/src/a/mod.rs", &text).is_empty());
    let text = format!("#[cfg(test)]\n{EXPECT}\nmod tests;\n");
    assert!(found("", "crates/pirn/src/a/mod.rs", &text).is_empty());
}

#[test]
fn both_directions_are_checked() {
    let text = format!("{EXPECT}\nmod b;\n");
    let said = found("", "crates/pirn/src/lib.rs", &text);
    assert_eq!(
        said,
        ["crates/pirn/src/lib.rs:1: module `b` is not in docs/unsafe.md"]
    );
    let said = found("| `b` | r |\n", "crates/pirn/src/lib.rs", "mod b;\n");
    assert_eq!(said.len(), 1, "{said:?}");
}

#[test]
fn nothing_but_a_mod_line_may_carry_it() {
    let text = format!("{EXPECT}\npub fn f() {{}}\nmod b;\n");
    assert_eq!(found("", "crates/pirn/src/a.rs", &text).len(), 1);
    let text = "#[allow(unsafe_code, reason = \"r\")]\nmod b;\n";
    assert_eq!(found("", "crates/pirn/src/a.rs", text).len(), 1);
}

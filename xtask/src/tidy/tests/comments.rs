//! The comment rules distinguish code from prose.

use crate::tidy::comments::check;
use crate::tidy::tree::Tree;

fn found(text: &str) -> usize {
    check(&Tree::of(&[(
        "crates/pirn/src/a.rs",
        &format!("//! D.\n{text}\nmod end;\n"),
    )]))
    .len()
}

#[test]
fn a_header_is_demanded() {
    assert_eq!(
        check(&Tree::of(&[("xtask/src/a.rs", "// D.\nmod b;\n")])).len(),
        1
    );
    assert_eq!(found("mod b;"), 0);
}

#[test]
fn code_in_comments_is_found() {
    for text in [
        "// foo();",
        "// let x = 1;",
        "    // self.a = b;",
        "// }",
        "// if a == b {",
        "// pub(crate) fn f() {",
        "// Some(x) => {",
        "// #[inline]",
    ] {
        assert_eq!(found(text), 1, "{text}");
    }
}

#[test]
fn prose_passes() {
    for text in [
        "// First the queue, then the word;",
        "// SAFETY: W2: a linked node is pinned until unlinked.",
        "/// foo();",
        "//! let x = 1;",
        "mod c; // and bar();",
        "// A thief sees {real, steal}",
    ] {
        assert_eq!(found(text), 0, "{text}");
    }
}

#[test]
fn wide_comments_are_found_where_they_are_wrapped() {
    let wide = "word ".repeat(20);
    let text = format!("//! D.\n//! | {wide}|\n/// {wide}\nfn f() {{}} // {wide}\n");
    let found = |path| check(&Tree::of(&[(path, &text)])).len();
    assert_eq!(found("crates/pirn/src/par/a.rs"), 1);
    assert_eq!(found("crates/pirn/src/wait/a.rs"), 0);
}

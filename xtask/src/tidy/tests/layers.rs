//! The layer rule detects each form of an upward import.

use std::collections::BTreeSet;

use crate::repo;
use crate::tidy::layers::{LAW, check, top_module};
use crate::tidy::tree::{LIBRARY, Tree};

const TABLE: &str = "| Layer | Module | Owns |\n|--|--|--|\n\
    | 0 | `base` | x |\n| 1 | `left`, `right` | y |\n";

fn said(files: &[(&str, &str)]) -> Vec<String> {
    let mut all = vec![
        (LAW, TABLE),
        ("crates/pirn/src/base/mod.rs", ""),
        ("crates/pirn/src/left.rs", ""),
        ("crates/pirn/src/right/mod.rs", ""),
    ];
    all.retain(|(path, _)| files.iter().all(|(p, _)| p != path));
    all.extend_from_slice(files);
    check(&Tree::of(&all))
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn downwards_is_fine_and_so_are_tests() {
    assert!(said(&[]).is_empty());
    assert!(
        said(&[("crates/pirn/src/left.rs", "use crate::{base::x, right};")]).is_empty()
    );
    let test = "#[cfg(test)]\nmod tests { use crate::left; }";
    assert!(said(&[("crates/pirn/src/base/mod.rs", test)]).is_empty());
    assert!(said(&[("crates/pirn/src/base/tests/a.rs", "use crate::left;")]).is_empty());
}

#[test]
fn upwards_is_found_in_every_form() {
    let forms = [
        "use crate::left;",
        "fn f() { crate::left::g() }",
        "use crate::{\n base::a,\n left::{b, c},\n};",
    ];
    for text in forms {
        let found = said(&[("crates/pirn/src/base/mod.rs", text)]);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].contains("imports point downwards"), "{found:?}");
    }
}

#[test]
fn a_cycle_within_a_layer_is_found() {
    let found = said(&[
        ("crates/pirn/src/left.rs", "use crate::right;"),
        ("crates/pirn/src/right/mod.rs", "use crate::left;"),
    ]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("a cycle"), "{found:?}");
}

// Proves: A8.
#[test]
fn waiting_modules_never_name_the_scheduler() {
    for module in ["channel", "sync", "time"] {
        let table =
            format!("| Layer | Module |\n|--|--|\n| 0 | `sched` |\n| 1 | `{module}` |\n");
        let file = format!("crates/pirn/src/{module}/mod.rs");
        let found = check(&Tree::of(&[
            (LAW, &table),
            ("crates/pirn/src/sched/mod.rs", ""),
            (&file, "use crate::sched::worker::enqueue;"),
        ]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].message.contains("must not know"), "{found:?}");
    }
}

/// The library keeps the rule, and the modules that it is about exist.
// Proves: A8.
#[test]
fn the_library_keeps_the_rule() {
    let is_read = |file: &repo::File| file.path == LAW || file.path.starts_with(LIBRARY);
    let files = repo::files().unwrap().into_iter().filter(is_read);
    let tree = Tree::new(files.collect()).unwrap();
    let found = check(&tree);
    assert!(found.is_empty(), "{found:?}");
    let modules: BTreeSet<_> = tree.library().filter_map(top_module).collect();
    for module in ["channel", "sync", "time", "sched"] {
        assert!(modules.contains(module), "{module}: {modules:?}");
    }
}

#[test]
fn the_table_matches_what_exists() {
    let found = said(&[("crates/pirn/src/extra.rs", "")]);
    assert_eq!(found, ["ARCHITECTURE.md: module `extra` has no layer"]);
    let found = check(&Tree::of(&[(LAW, TABLE)]));
    assert_eq!(found.len(), 3, "{found:?}");
}

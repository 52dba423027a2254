//! Every wait reason is used: a variant of `wait::reason::Reason` that no waiting code names would
//! never appear in a report.

use std::collections::BTreeSet;

use syn::Item;

use super::tree::{Finding, Tree};
use crate::source::Source;

const HOME: &str = "crates/pirn/src/wait/reason.rs";

/// Finds variants that are not named outside their file.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(home) = tree.sources.iter().find(|s| s.path == HOME) else {
        return Vec::new();
    };
    let users = tree.library().filter(|source| source.path != HOME);
    let used: BTreeSet<_> = users.flat_map(reasons).collect();
    let enums = home.items.iter().filter_map(|item| match item {
        Item::Enum(item) if item.ident == "Reason" => Some(&item.variants),
        _ => None,
    });
    let unused = enums.flatten().filter_map(|variant| {
        let (name, line) = (variant.ident.to_string(), variant.ident.span().start().line);
        let said = format!("nothing waits with `Reason::{name}`");
        (!used.contains(name.as_str())).then(|| Finding::new(HOME, line, said))
    });
    unused.collect()
}

/// Returns the names that follow `Reason::` outside tests.
fn reasons(source: &Source) -> Vec<&str> {
    let code: Vec<_> = source.code().map(|token| token.text.as_str()).collect();
    let named = code.windows(4).filter_map(|tokens| match tokens {
        ["Reason", ":", ":", name] => Some(*name),
        _ => None,
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unused_reason_is_found() {
        let home = "//! D.\n/// Why.\n#[derive(Debug)]\npub enum Reason {\n    /// A.\n    Join,\n    \
            Joint { a: u8,\n deep: u8 },\n    Lock(u8),\n}\nenum Other {\n    No,\n}\n";
        let user = "//! D.\nfn f() { g(Reason::Joint { a: 1 }); h(Reason::Lock(1)) }\n";
        let tree = Tree::of(&[(HOME, home), ("crates/pirn/src/a.rs", user)]);
        let said: Vec<_> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [format!("{HOME}:6: nothing waits with `Reason::Join`")]
        );
    }
}

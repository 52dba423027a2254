//! The line about open rows in two documents.

use std::collections::BTreeSet;

use crate::{features, repo};

use super::open::{OLD, Open};
use super::table::{Bound, PATH};

/// The documents with a line about open rows, and the beginning of that line.
const DOCS: [&str; 2] = ["README.md", features::PROMISES];
const BEGINS: &str = "Open rows: ";

/// Returns the line about open rows for the documents.
pub(super) fn summary(bounds: &[Bound], open: &Open) -> String {
    let rows: BTreeSet<_> = bounds.iter().map(|bound| &bound.row).collect();
    let missed = bounds.iter().filter(|bound| bound.is_missed());
    let missed: BTreeSet<_> = missed.map(|bound| &bound.row).collect();
    let (missed, old): (Vec<&String>, Vec<_>) =
        open.keys().partition(|row| missed.contains(row));
    let names = |rows: Vec<&String>| match rows.len() {
        0 => "none".to_owned(),
        _ => rows.into_iter().cloned().collect::<Vec<_>>().join(", "),
    };
    format!(
        "{BEGINS}{} of {} with measured bounds (`{PATH}`). A bound is missed: {}. No verdict of the \
         last {OLD} commits: {}.",
        open.len(),
        rows.len(),
        names(missed),
        names(old)
    )
}

/// Compares the documents with that line; with `write`, updates them. Returns the differences.
///
/// # Errors
/// When a document cannot be read or written.
pub(crate) fn docs(
    bounds: &[Bound],
    open: &Open,
    write: bool,
) -> Result<Vec<String>, String> {
    let line = summary(bounds, open);
    let mut said = Vec::new();
    for path in DOCS {
        let text = repo::read(path)?;
        match stale(&text, &line) {
            None => {}
            Some((_, Some(text))) if write => {
                repo::write(path, &text)?;
            }
            Some((at, _)) => said.push(format!(
                "{path}:{at}: a line should be `{line}`: run `cargo xtask rows --names --write`"
            )),
        }
    }
    Ok(said)
}

/// Returns the place of a document's outdated line, and the updated document; no document if there
/// is no such line.
pub(super) fn stale(text: &str, line: &str) -> Option<(usize, Option<String>)> {
    let Some(at) = text.lines().position(|line| line.starts_with(BEGINS)) else {
        return Some((1, None));
    };
    let mut lines: Vec<_> = text.lines().collect();
    if lines[at] == line {
        return None;
    }
    lines[at] = line;
    Some((at + 1, Some(lines.join("\n") + "\n")))
}

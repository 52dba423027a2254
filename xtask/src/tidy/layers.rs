//! Imports only point downwards.
//!
//! The table in ARCHITECTURE.md (`Layer | Module | Owns`) decides: a module may name modules of
//! lower layers, and of its own layer as long as those form no cycle. Tests may name anything. The
//! table must list every module of the library that exists, and no other.
//!
//! Waiting code knows nothing of run queues: some modules may not name the scheduler although it is
//! below them.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::Graph;
use super::paths::{module, paths};
use super::tree::{Finding, Tree};
use crate::markdown::{quoted, table};
use crate::source::Source;

pub(super) const LAW: &str = "ARCHITECTURE.md";

/// From, to: forbidden, although it points downwards.
const APART: &[(&str, &str)] =
    &[("channel", "sched"), ("sync", "sched"), ("time", "sched")];

/// One place where a top-level module names another.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    line: usize,
    from: String,
    to: String,
    path: String,
}

impl Edge {
    fn finding(&self, said: String) -> Finding {
        Finding::new(&self.path, self.line, said)
    }
}

/// Checks the edges between the library's modules against the table.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let layers = match law(tree) {
        Ok(layers) => layers,
        Err(finding) => return vec![finding],
    };
    let modules: BTreeSet<_> = tree.library().filter_map(top_module).collect();
    let unlisted = modules.iter().filter(|m| !layers.contains_key(*m));
    let mut findings: Vec<_> = unlisted
        .map(|module| Finding::new(LAW, 0, format!("module `{module}` has no layer")))
        .collect();
    for module in layers.keys().filter(|m| !modules.contains(*m)) {
        findings.push(Finding::new(LAW, 0, format!("no module `{module}` exists")));
    }
    let edges: Vec<_> = tree.library().flat_map(edges).collect();
    let mut same_layer = Graph::default();
    for edge in &edges {
        let Edge { from, to, .. } = edge;
        let (Some(upper), Some(lower)) = (layers.get(from), layers.get(to)) else {
            continue;
        };
        if lower > upper {
            findings.push(edge.finding(format!(
                "`{from}` (layer {upper}) names `{to}` (layer {lower}): imports point downwards"
            )));
        }
        if APART.contains(&(from, to)) {
            findings.push(edge.finding(format!(
                "`{from}` must not know `{to}`: it waits through `wait`"
            )));
        }
        if lower == upper {
            same_layer.add(from, to);
        }
    }
    for ring in same_layer.rings() {
        let mut said = BTreeSet::new();
        for edge in &edges {
            let (from, to) = (edge.from.as_str(), edge.to.as_str());
            if ring.contains(from) && ring.contains(to) && said.insert((from, to)) {
                findings.push(edge.finding(format!(
                    "`{from}` names `{to}`, which names it in turn: same layer, but a cycle"
                )));
            }
        }
    }
    findings
}

/// Returns the map from module to layer of ARCHITECTURE.md.
fn law(tree: &Tree) -> Result<BTreeMap<String, u32>, Finding> {
    let mut layers = BTreeMap::new();
    for (line, row) in table(tree.text(LAW), "Layer") {
        let layer = row[0].parse().map_err(|_| {
            Finding::new(LAW, line, "the first column must be the layer's number")
        })?;
        let named = row.get(1).copied().unwrap_or_default();
        layers.extend(quoted(named).into_iter().map(|m| (m.to_owned(), layer)));
    }
    if layers.is_empty() {
        return Err(Finding::new(LAW, 0, "no table with the column `Layer`"));
    }
    Ok(layers)
}

/// Returns the top-level module of a file of the library; none for `lib.rs`.
pub(super) fn top_module(source: &Source) -> Option<String> {
    module(source).into_iter().next()
}

/// Returns every other top-level module that a file names outside its tests, once a line.
fn edges(source: &Source) -> BTreeSet<Edge> {
    let Some(from) = top_module(source) else {
        return BTreeSet::new();
    };
    let edge = |line, to| Edge {
        line,
        from: from.clone(),
        to,
        path: source.path.clone(),
    };
    let named = paths(source).into_iter();
    named
        .filter_map(|path| Some(edge(path.line, path.segments.into_iter().next()?)))
        .filter(|edge| edge.to != edge.from)
        .collect()
}

//! Imports only point downwards.
//!
//! The table in ARCHITECTURE.md (`Layer | Module | Owns`) decides: a module may name modules of
//! lower layers, and of its own layer as long as those form no cycle. Tests may name anything. The
//! table must list every module of the library that exists, and no other.
//!
//! Waiting code knows nothing of run queues: some modules may not name the scheduler although it is
//! below them.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Finding, Tree};
use crate::markdown::{quoted, table};
use crate::source::{Source, is_word};

pub(super) const LAW: &str = "ARCHITECTURE.md";
const HOME: &str = "crates/pirn/src/";

/// From, to: forbidden, although it points downwards.
const APART: &[(&str, &str)] =
    &[("channel", "sched"), ("sync", "sched"), ("time", "sched")];

/// One place where a module names another.
#[derive(Debug)]
struct Edge {
    from: String,
    to: String,
    path: String,
    line: usize,
}

/// Checks the edges between the library's modules against the table.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let layers = match law(tree) {
        Ok(layers) => layers,
        Err(finding) => return vec![finding],
    };
    let modules: BTreeSet<_> = tree.library().filter_map(|s| module(&s.path)).collect();
    for module in modules.iter().filter(|m| !layers.contains_key(*m)) {
        findings.push(Finding::new(
            LAW,
            0,
            format!("module `{module}` has no layer"),
        ));
    }
    for module in layers.keys().filter(|m| !modules.contains(*m)) {
        findings.push(Finding::new(LAW, 0, format!("no module `{module}` exists")));
    }
    let edges: Vec<_> = tree.library().flat_map(edges).collect();
    for edge in &edges {
        let (Some(from), Some(to)) = (layers.get(&edge.from), layers.get(&edge.to))
        else {
            continue;
        };
        if to > from {
            let said = format!(
                "`{}` (layer {from}) names `{}` (layer {to}): imports point downwards",
                edge.from, edge.to
            );
            findings.push(Finding::new(&edge.path, edge.line, said));
        }
    }
    for edge in edges.iter().filter(|e| APART.contains(&(&e.from, &e.to))) {
        let said = format!(
            "`{}` must not know `{}`: it waits through `wait`",
            edge.from, edge.to
        );
        findings.push(Finding::new(&edge.path, edge.line, said));
    }
    findings.extend(knots(&edges, &layers));
    findings
}

/// Returns the map from module to layer of ARCHITECTURE.md.
fn law(tree: &Tree) -> Result<BTreeMap<String, u32>, Finding> {
    let text = tree.text(LAW).unwrap_or_default();
    let mut layers = BTreeMap::new();
    for (line, row) in table(text, "Layer") {
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
fn module(path: &str) -> Option<String> {
    let inside = path.strip_prefix(HOME)?;
    let first = inside.split('/').next()?.trim_end_matches(".rs");
    (first != "lib").then(|| first.to_owned())
}

/// Returns every other top-level module that a file names outside its tests.
fn edges(source: &Source) -> Vec<Edge> {
    let Some(from) = module(&source.path) else {
        return Vec::new();
    };
    let mut text = String::new();
    let mut starts = Vec::new();
    for (at, line) in source.code() {
        starts.push((text.len(), at));
        text.push_str(&line.code);
        text.push('\n');
    }
    let mut found = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        if text[..at]
            .chars()
            .next_back()
            .is_some_and(|c| is_word(c) || c == '$')
        {
            continue;
        }
        let line = starts
            .iter()
            .rfind(|(start, _)| *start <= at)
            .map_or(0, |(_, l)| *l);
        for to in heads(&text[at + "crate::".len()..]) {
            if to != from {
                found.push(Edge {
                    from: from.clone(),
                    to,
                    path: source.path.clone(),
                    line,
                });
            }
        }
    }
    found
}

/// Returns the first segments after `crate::`: one, or each of a braced group.
fn heads(rest: &str) -> Vec<String> {
    let word = |s: &str| s.trim_start().chars().take_while(|c| is_word(*c)).collect();
    let Some(group) = rest.strip_prefix('{') else {
        return vec![word(rest)];
    };
    let mut heads: Vec<String> = vec![word(group)];
    let mut depth = 0_u32;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => heads.push(word(&group[at + 1..])),
            _ => {}
        }
    }
    heads.retain(|head| !head.is_empty());
    heads
}

/// Returns the cycles among modules of the same layer.
fn knots(edges: &[Edge], layers: &BTreeMap<String, u32>) -> Vec<Finding> {
    let level = |e: &&Edge| layers.get(&e.from) == layers.get(&e.to);
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for edge in edges.iter().filter(level) {
        next.entry(&edge.from).or_default().insert(&edge.to);
    }
    let mut findings = Vec::new();
    let mut said = BTreeSet::new();
    for edge in edges.iter().filter(level) {
        if reaches(&next, &edge.to, &edge.from)
            && said.insert((edge.from.clone(), edge.to.clone()))
        {
            let text = format!(
                "`{}` names `{}`, which names it in turn: same layer, but a cycle",
                edge.from, edge.to
            );
            findings.push(Finding::new(&edge.path, edge.line, text));
        }
    }
    findings
}

fn reaches(next: &BTreeMap<&str, BTreeSet<&str>>, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        if seen.insert(at) {
            open.extend(next.get(at).into_iter().flatten());
        }
    }
    false
}

//! The limits of a row, compared with pirn's figures, and the verdicts of a run, one a line, for
//! `cargo xtask bench` to write into `bench/BOUNDS.md`.
//!
//! A verdict that a noisy machine, too few repetitions or a missing peer would distort has no line,
//! and the reason is reported.

use serde::Serialize;

use crate::base::verdict_line;
use crate::case::{self, Bound, Of, Row};
use crate::harness::Cell;
use crate::peers::{self, OURS};

use super::sheet::{Block, Line, Sheet, is_ours};

/// One limit of one row.
#[derive(Debug, Serialize)]
pub struct Limit {
    /// The peer of pirn that it is for.
    pub peer: &'static str,
    /// The peers that it refers to, whether they ran or not.
    pub among: Vec<&'static str>,
    /// In words.
    pub bound: &'static str,
    /// True if its number depends on the figure of a peer or a floor in this run.
    pub relative: bool,
    /// Its number in this run, if the peers that it refers to ran.
    pub value: Option<f64>,
    /// pirn's figure, as a multiple of that number.
    pub times: Option<f64>,
    /// True if that keeps the limit.
    pub kept: Option<bool>,
}

/// Returns all limits of `row`, from the numbers of one run. `lines` have the best first.
pub fn limits(row: &Row, lines: &[Line], floors: &Cell) -> Vec<Limit> {
    let limit = |bound| limit(row, bound, lines, floors);
    row.bounds.iter().map(limit).collect()
}

fn limit(row: &Row, bound: &Bound, lines: &[Line], floors: &Cell) -> Limit {
    let among = match &bound.of {
        Of::Unit => Vec::new(),
        Of::One(name) => vec![*name],
        Of::BestOf(peers) => peers.clone(),
        Of::BestBut(except) => {
            let all = peers::all().iter().map(|peer| peer.name);
            all.filter(|name| !is_ours(name) && !except.contains(name))
                .collect()
        }
    };
    let best = lines.iter().find(|line| among.contains(&line.peer));
    let figure = match bound.of {
        Of::Unit => Some(1.0),
        Of::One(name) => floors
            .summary(name)
            .or(best.map(|line| line.summary))
            .map(|summary| summary.median),
        _ => best.map(|line| line.summary.median),
    };
    let value = figure.map(|figure| figure * bound.factor);
    let peer = bound.peer.unwrap_or(OURS);
    let ours = lines.iter().find(|line| line.peer == peer);
    let ours = ours.map(|Line { summary, .. }| match bound.p99 {
        false => summary.median,
        // With too few samples for it, the largest is used instead, so that the bound still has a
        // verdict.
        true => summary.p99.unwrap_or(summary.max),
    });
    let times = ours.zip(value).map(|(ours, value)| ours / value);
    let keeps = |times: f64| match row.more_is_better() {
        true => times >= 1.0,
        false => times <= 1.0,
    };
    Limit {
        peer,
        among,
        bound: bound.words,
        relative: bound.of != Of::Unit,
        value,
        times,
        kept: times.map(keeps),
    }
}

/// Number of repetitions that a verdict needs.
pub const ENOUGH: usize = 7;

/// Returns the lines, and the reasons for missing ones. `missing` are the peers that have not run.
pub fn verdicts(sheet: &Sheet, missing: &[&str]) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut reasons) = (Vec::new(), Vec::new());
    if sheet.quick || sheet.repetitions < ENOUGH {
        let said =
            format!("a verdict needs {ENOUGH} repetitions, and none of them quick");
        return (lines, vec![said]);
    }
    for block in &sheet.blocks {
        for limit in &block.limits {
            let bound = limit.bound;
            match judge(block, limit, missing) {
                Ok((kept, times)) => {
                    lines.push(verdict_line(block.case, block.row, bound, kept, times));
                }
                Err(why) => reasons.push(format!("{}: {bound}: {why}", block.case)),
            }
        }
    }
    (lines, reasons)
}

/// Returns the verdict on a limit, and its multiple, or the reason why it is unknown.
fn judge(block: &Block, limit: &Limit, missing: &[&str]) -> Result<(bool, f64), String> {
    let case = case::find(block.case);
    let fits = |name: &str| {
        let peer = peers::all().iter().find(|peer| peer.name == name);
        case.zip(peer).is_some_and(|(case, peer)| peer.fits(case))
    };
    let among = limit.among.iter().copied();
    let without: Vec<_> = among
        .filter(|name| missing.contains(name) && fits(name))
        .collect();
    if !without.is_empty() {
        return Err(format!("{} did not run", without.join(", ")));
    }
    let failed = limit.among.iter().find(|name| block.failed.contains(name));
    if let Some(failed) = failed {
        return Err(format!("{failed} has failed"));
    }
    if !block.is_quiet() {
        return Err("the machine was not quiet".to_owned());
    }
    let verdict = limit.kept.zip(limit.times);
    verdict.ok_or("a figure is missing".to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::harness::{Answer, Machine, Plan, Results, Summary};

    fn line(peer: &'static str, median: f64) -> Line {
        Line {
            peer,
            summary: Summary::of(&[median]).unwrap(),
            times_best: None,
            surely: None,
            samples: Vec::new(),
        }
    }

    /// The limits of a row with these bounds, and these medians, the best first.
    fn judged(
        unit: &'static str,
        bounds: &[&'static str],
        lines: &[(&'static str, f64)],
    ) -> Vec<Limit> {
        let row = Row {
            series: "op",
            unit,
            title: "",
            bounds: bounds.iter().copied().map(Bound::parse).collect(),
            elsewhere: Vec::new(),
        };
        let lines: Vec<_> = lines.iter().map(|(peer, at)| line(peer, *at)).collect();
        limits(&row, &lines, &Cell::default())
    }

    #[test]
    fn a_limit_is_kept_from_its_better_side() {
        let kept = |unit, bound, ours| {
            judged(unit, &[bound], &[(OURS, ours), ("tokio", 100.0)])[0].kept
        };
        assert_eq!(kept("ns", "≤ 0.5 × tokio", 40.0), Some(true));
        assert_eq!(kept("ns", "≤ 0.5 × tokio", 60.0), Some(false));
        assert_eq!(kept("ns", "≤ 0.5 × go", 60.0), None);
        assert_eq!(kept("M/s", "≥ 10.0 M/s", 9.0), Some(false));
        assert_eq!(kept("M/s", "≥ 10.0 M/s", 11.0), Some(true));
    }

    #[test]
    fn a_limit_may_be_for_another_of_our_own() {
        let lines = [(OURS, 1.0), ("rayon", 2.0), ("pirn-sq", 3.0)];
        let limits = judged("ns", &["≤ 1 × rayon", "pirn-sq ≤ 1 × rayon"], &lines);
        let kept: Vec<_> = limits
            .iter()
            .map(|limit| (limit.peer, limit.kept))
            .collect();
        assert_eq!(kept, [(OURS, Some(true)), ("pirn-sq", Some(false))]);
    }

    #[test]
    fn the_best_is_among_the_named() {
        let lines = [
            ("rayon", 1.0),
            ("pirn-sq", 2.0),
            ("go", 10.0),
            ("tokio", 20.0),
        ];
        let value = |bound| judged("ms", &[bound], &lines)[0].value;
        assert_eq!(value("≤ 0.5 × the best peer but rayon"), Some(5.0));
        assert_eq!(value("≤ 0.5 × the best of go, tokio"), Some(5.0));
    }

    #[test]
    fn the_largest_stands_in_for_a_percentile_of_few_samples() {
        let row = case::find("busy-child").unwrap().rows[0].clone();
        let kept = |line| limits(&row, &[line], &Cell::default())[0].kept;
        assert_eq!(kept(line(OURS, 1.0)), Some(true));
        let mut few = line(OURS, 1.0);
        few.summary.max = 1.1e6;
        few.summary.p99 = Some(9.0);
        assert_eq!(kept(few), Some(true));
        let mut many = line(OURS, 1.0);
        many.summary.max = 1.1e6;
        assert_eq!(kept(many), Some(false));
    }

    /// Returns a run of `steal` and `echo-64` with equal figures of pirn and tokio.
    fn sheet(repetitions: usize, others: f64) -> Sheet {
        let plan = Plan {
            cases: ["steal", "echo-64"]
                .map(|name| case::find(name).unwrap())
                .into(),
            peers: peers::all().iter().collect(),
            repetitions,
            quick: false,
        };
        let mut results = Results::new(2, plan.peers.len());
        for (at, peer) in plan.peers.iter().enumerate() {
            if matches!(peer.name, "pirn" | "tokio") {
                results.cells[0][at].add(Answer::parse("latency 1100\n"));
                results.cells[1][at].add(Answer::parse("rate 8\n"));
            }
        }
        results.note_others(0, Some(others));
        results.note_others(1, Some(0.0));
        Sheet::new(&plan, &results, Machine::here())
    }

    #[test]
    fn a_verdict_has_its_case_row_bound_and_ratio() {
        let (lines, reasons) = verdicts(&sheet(ENOUGH, 0.0), &[]);
        let steal = "steal\tfrom push to the end of the theft\t≤ 1,000 ns\tMISSED\t1.100";
        let echo = "echo-64\trequests answered\t≥ 1 × the best of go, tokio, tokio-ct, may\tKEPT\t1.000";
        assert_eq!(lines, [steal, echo]);
        // The other two rows of the echo have no figures.
        assert_eq!(reasons.len(), 2, "{reasons:?}");
    }

    /// Otherwise the bound would be held against the best of the others.
    // Proves: R12.
    #[test]
    fn a_failed_peer_gives_none() {
        let mut sheet = sheet(ENOUGH, 0.0);
        sheet.blocks[1].failed.push("go");
        let (lines, reasons) = verdicts(&sheet, &[]);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(reasons[0].ends_with("go has failed"), "{reasons:?}");
    }

    #[test]
    fn few_repetitions_noise_and_missing_peers_give_none() {
        let (lines, reasons) = verdicts(&sheet(ENOUGH - 1, 0.0), &[]);
        assert_eq!((lines.len(), reasons.len()), (0, 1));
        let (lines, reasons) = verdicts(&sheet(ENOUGH, 0.5), &["go", "epoll"]);
        assert!(lines.is_empty());
        assert_eq!(reasons[0], "steal: ≤ 1,000 ns: the machine was not quiet");
        assert!(reasons[1].ends_with("go did not run"), "{reasons:?}");
    }

    #[test]
    fn the_table_of_bounds_has_every_bound_of_its_cases() {
        let table = include_str!("../../BOUNDS.md");
        let mut written = BTreeSet::new();
        for line in table.lines().filter(|line| line.starts_with('|')) {
            let cells: Vec<_> = line.split('|').map(str::trim).collect();
            if case::find(cells[2]).is_some() {
                written.insert([cells[2], cells[3], cells[4]]);
            }
        }
        let mut asked = BTreeSet::new();
        for case in case::table() {
            if !written.iter().any(|[name, ..]| *name == case.name) {
                continue;
            }
            for row in &case.rows {
                let bounds = row.bounds.iter();
                asked.extend(bounds.map(|bound| [case.name, row.title, bound.words]));
            }
        }
        assert_eq!(written, asked);
    }
}

//! The verdicts of a run, one a line, for `cargo xtask bench` to write into `bench/BOUNDS.md`.
//!
//! A verdict that a noisy machine, too few repetitions or a missing peer would distort has no line,
//! and the reason is reported.

use crate::base::verdict_line;
use crate::case;
use crate::peers;

use super::sheet::{Block, Sheet};
use super::text::bound;
use super::verdict::Limit;

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
            let bound = bound(limit, block.unit);
            match judge(block, limit, missing) {
                Ok((kept, times)) => {
                    lines.push(verdict_line(block.case, block.row, &bound, kept, times));
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
    use crate::harness::{Answer, Machine, Plan, Results};

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
                results.cell_mut(0, at).add(Answer::parse("latency 1100\n"));
                results.cell_mut(1, at).add(Answer::parse("rate 8\n"));
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
                written.insert([cells[2], cells[3], cells[4]].map(str::to_owned));
            }
        }
        let mut asked = BTreeSet::new();
        for case in case::table() {
            if !written.iter().any(|[name, ..]| name == case.name) {
                continue;
            }
            for row in case.rows {
                for limit in crate::report::limits(row, &[], &Default::default()) {
                    let bound = bound(&limit, row.unit.name());
                    asked.insert([case.name.to_owned(), row.title.to_owned(), bound]);
                }
            }
        }
        assert_eq!(written, asked);
    }
}

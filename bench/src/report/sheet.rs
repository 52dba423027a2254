//! The report before layout.

use serde::Serialize;

use crate::case::{Case, Kind, Row, Talk};
use crate::floors::FLOORS;
use crate::harness::{
    Cell, Machine, Plan, Results, Status, Summary, gives, is_quiet, sure_ratio,
};
use crate::peers::{BARE, OURS};

use super::verdict::{Limit, limits};

/// The contents of a report.
#[derive(Debug, Serialize)]
pub struct Sheet {
    /// The machine.
    pub machine: Machine,
    /// True if rounds were a tenth of their size.
    pub quick: bool,
    /// Number of runs of each case.
    pub repetitions: usize,
    /// The floors of this run: name, description, nanoseconds.
    pub floors: Vec<(&'static str, &'static str, Summary)>,
    /// One for each row of each case.
    pub blocks: Vec<Block>,
    /// Name and note of each peer.
    pub peers: Vec<(&'static str, &'static str)>,
}

/// One row of one case with all peers.
#[derive(Debug, Serialize)]
pub struct Block {
    /// The case's name.
    pub case: &'static str,
    /// The case's title.
    pub title: &'static str,
    /// The row's title.
    pub row: &'static str,
    /// The unit of all numbers.
    pub unit: &'static str,
    /// True if a larger number is better.
    pub more_is_better: bool,
    /// Number of workers of every peer.
    pub workers: usize,
    /// Rounds before the first sample, in every child.
    pub warmups: u64,
    /// True if the rarest samples are shown as well.
    pub tail: bool,
    /// Peers with numbers, the best first.
    pub lines: Vec<Line>,
    /// Peers without numbers, and the reasons.
    pub absent: Vec<(&'static str, String)>,
    /// Those of them that have failed.
    pub failed: Vec<&'static str>,
    /// Maximum of processors used by other processes before the case.
    pub others: Option<f64>,
    /// pirn's limits with their verdicts.
    pub limits: Vec<Limit>,
    /// Figures of peers on another machine, for comparison.
    pub elsewhere: Vec<(&'static str, f64)>,
}

/// One peer in one row.
#[derive(Debug, Serialize)]
pub struct Line {
    /// The peer.
    pub peer: &'static str,
    /// Its numbers.
    pub summary: Summary,
    /// The median as a multiple of the best peer's, not counting pirn and peers with other work.
    pub times_best: Option<f64>,
    /// The bound of that multiple with 95 % probability: a lower one where more is better, else an
    /// upper one. Only if each repetition gives one sample: for servers and whole programs.
    pub surely: Option<f64>,
    /// The samples, in such cases only.
    pub samples: Vec<f64>,
}

impl Sheet {
    /// Words and numbers for `results`.
    pub fn new(plan: &Plan, results: &Results, machine: Machine) -> Sheet {
        let floors = FLOORS.iter().filter_map(|floor| {
            let summary = results.floors.summary(floor.name)?;
            Some((floor.name, floor.title, summary))
        });
        let blocks = plan.cases.iter().enumerate().flat_map(|(at, case)| {
            case.rows
                .iter()
                .map(move |row| block(plan, results, at, case, row))
        });
        Sheet {
            machine,
            quick: plan.quick,
            repetitions: plan.repetitions,
            floors: floors.collect(),
            blocks: blocks.collect(),
            peers: plan
                .peers
                .iter()
                .map(|peer| (peer.name, peer.note))
                .collect(),
        }
    }

    /// Returns the facts of the run, by name.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let others = self.blocks.iter().filter_map(|block| block.others);
        let others = match others.reduce(f64::max) {
            Some(most) => {
                let noisy = if is_quiet(most) { "" } else { ": NOT QUIET" };
                format!("at most {most:.2} processors before a case{noisy}")
            }
            None => "not known".to_owned(),
        };
        let mut facts = self.machine.facts();
        facts.push(("other processes", others));
        facts.push(("repetitions", self.repetitions.to_string()));
        if self.quick {
            facts.push(("quick", "sizes are a tenth of those named".to_owned()));
        }
        facts
    }
}

fn block(plan: &Plan, results: &Results, at: usize, case: &Case, row: &Row) -> Block {
    let mut lines = Vec::new();
    let mut absent = Vec::new();
    let mut failed = Vec::new();
    for (place, peer) in plan
        .peers
        .iter()
        .enumerate()
        .filter(|(_, peer)| peer.fits(case))
    {
        let cell = &results.cells[at][place];
        match (cell.summary(row.series), &cell.status) {
            // Also if only a later repetition has failed: no figure of it counts.
            (_, Some(Status::Failed(reason))) => {
                absent.push((peer.name, reason.clone()));
                failed.push(peer.name);
            }
            (Some(_), _) if !has_requests(cell, row.series) => {
                absent.push((peer.name, "too few requests in a run for it".to_owned()));
            }
            (Some(summary), _) => {
                lines.push(Line {
                    peer: peer.name,
                    summary,
                    times_best: None,
                    surely: None,
                    samples: match case.job.kind.gives_one_sample() {
                        true => cell.samples(row.series).to_vec(),
                        false => Vec::new(),
                    },
                });
            }
            (None, Some(Status::Skipped(reason))) => {
                absent.push((peer.name, reason.clone()));
            }
            (None, _) => absent.push((peer.name, "no samples".to_owned())),
        }
    }
    rank(&mut lines, row.more_is_better(), left_out(case.job.kind));
    Block {
        case: case.name,
        title: case.title,
        row: row.title,
        unit: row.unit,
        more_is_better: row.more_is_better(),
        workers: case.job.workers,
        tail: matches!(case.job.kind, Kind::Tail(work) if !work.is_program()),
        warmups: case.job.warmups,
        limits: limits(row, &lines, &results.floors),
        lines,
        absent,
        failed,
        others: results.others[at],
        elsewhere: row.elsewhere.clone(),
    }
}

/// Returns the peers that a case shows, and that are not its best peer: their work is another.
fn left_out(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Net(_) => BARE,
        // A few threads in place of a thousand fibers.
        Kind::Talk(Talk::Crowd(_)) => &["threads"],
        // The level 1 of its library is faster than that of the others, with larger output.
        Kind::Pgz { level: 1, .. } => &["serial"],
        _ => &[],
    }
}

/// Returns true if every run had enough requests for the percentile in the name of the series, if
/// there is one.
fn has_requests(cell: &Cell, series: &str) -> bool {
    let per_mille = match series {
        series if series.contains("p999") => 999,
        series if series.contains("p99") => 990,
        _ => return true,
    };
    // In an open loop, `p99-60` is about `requests-60`.
    let part = series.rsplit_once('-').map(|(_, part)| part);
    let requests = match part.filter(|part| part.parse::<u32>().is_ok()) {
        Some(part) => format!("requests-{part}"),
        None => "requests".to_owned(),
    };
    let mut runs = cell.samples(&requests).iter();
    runs.all(|requests| gives(*requests as usize, per_mille))
}

impl Block {
    /// Returns true if the machine is known to have been quiet before the case.
    pub fn is_quiet(&self) -> bool {
        self.others.is_some_and(is_quiet)
    }

    /// Returns the note on a machine that was not quiet.
    pub(super) fn noise(&self) -> Option<String> {
        let others = self.others.filter(|others| !is_quiet(*others))?;
        Some(format!(
            "NOT QUIET: before this case other processes used {others:.2} processors"
        ))
    }

    /// Returns the direction of better values from a bound.
    pub fn sign(&self) -> &'static str {
        if self.more_is_better { "≥" } else { "≤" }
    }
}

/// Sorts the best first and fills in the ratios.
fn rank(lines: &mut [Line], more_is_better: bool, left_out: &[&str]) {
    lines.sort_by(|a, b| a.summary.median.total_cmp(&b.summary.median));
    if more_is_better {
        lines.reverse();
    }
    let best = lines
        .iter()
        .find(|line| !is_ours(line.peer) && !left_out.contains(&line.peer))
        .map(|line| (line.peer, line.summary.median, line.samples.clone()));
    let Some((best, median, samples)) = best else {
        return;
    };
    if median <= 0.0 {
        return;
    }
    for line in lines {
        line.times_best = Some(line.summary.median / median);
        if line.peer != best {
            line.surely = sure_ratio(&line.samples, &samples, more_is_better);
        }
    }
}

/// Returns true if the peer is pirn with either scheduler.
pub(super) fn is_ours(peer: &str) -> bool {
    peer.starts_with(OURS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Answer;

    // Proves: R9, R14.
    #[test]
    fn a_peer_that_fails_in_one_repetition_has_no_figures() {
        let case = crate::case::find("echo-64").unwrap();
        let plan = Plan {
            cases: vec![case],
            peers: crate::peers::all().iter().collect(),
            repetitions: 2,
            quick: false,
        };
        let mut results = Results::new(1, plan.peers.len());
        for (at, peer) in plan.peers.iter().enumerate() {
            if matches!(peer.name, "pirn" | "tokio") {
                results.cells[0][at].add(Answer::parse("rate 8\n"));
            }
            if peer.name == "tokio" {
                results.cells[0][at].add(Answer::failed("byte 3 is wrong"));
            }
        }
        let sheet = Sheet::new(&plan, &results, Machine::here());
        let block = &sheet.blocks[0];
        let with: Vec<_> = block.lines.iter().map(|line| line.peer).collect();
        assert_eq!(
            (&with[..], &block.failed[..]),
            (&["pirn"][..], &["tokio"][..])
        );
        let tokio = block.absent.iter().find(|(name, _)| *name == "tokio");
        assert_eq!(tokio.unwrap().1, "byte 3 is wrong");
    }

    // Proves: R10.
    #[test]
    fn ratios_to_the_best_peer_have_a_bound() {
        let line = |peer, samples: [f64; 5]| Line {
            peer,
            summary: Summary::of(&samples).unwrap(),
            times_best: None,
            surely: None,
            samples: samples.to_vec(),
        };
        let mut lines = [
            line("pirn", [2.0, 4.0, 6.0, 8.0, 10.0]),
            line("tokio", [1.0, 2.0, 3.0, 4.0, 5.0]),
            line("go", [1.0; 5]),
        ];
        rank(&mut lines, true, &[]);
        let found = lines.map(|line| (line.peer, line.times_best, line.surely));
        assert_eq!(found[0], ("pirn", Some(2.0), Some(2.0)));
        assert_eq!(found[1], ("tokio", Some(1.0), None));
        assert!(
            matches!(found[2], ("go", Some(_), Some(0.2..=0.34))),
            "{found:?}"
        );
    }

    #[test]
    fn a_peer_with_other_work_is_not_the_best() {
        let left_out = |name| left_out(crate::case::find(name).unwrap().job.kind);
        assert_eq!(left_out("crowd-mutex"), ["threads"]);
        assert_eq!(left_out("pgz-1-pipe"), ["serial"]);
        assert_eq!(left_out("echo-64"), BARE);
        for name in ["pgz-6-pipe", "yield-2"] {
            assert!(left_out(name).is_empty());
        }
    }

    // Proves: R4.
    #[test]
    fn percentiles_of_a_run_need_its_requests() {
        let mut cell = Cell::default();
        cell.add(Answer::parse(
            "p99 1\nrequests 1000\np999-60 1\nrequests-60 9999\n",
        ));
        assert!(has_requests(&cell, "p99") && has_requests(&cell, "rate"));
        assert!(!has_requests(&cell, "p999") && !has_requests(&cell, "p999-60"));
        assert!(has_requests(&cell, "p99-60") && has_requests(&cell, "p99-30"));
        cell.add(Answer::parse("p99 1\nrequests 999\n"));
        assert!(!has_requests(&cell, "p99"));
    }
}

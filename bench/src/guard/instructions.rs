//! The verdicts on instructions, and their acceptance: the file in the repository with the accepted
//! numbers, and the reasons.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::{Machine, verdict_line};

use super::Operation;
use super::callgrind::{instructions_of, side_by_side};

/// More than this above the baseline fails.
const TOLERANCE: f64 = 0.05;

/// One operation, counted and judged.
#[derive(Debug)]
pub struct Verdict {
    /// The operation.
    pub name: &'static str,
    /// Instructions now.
    pub now: f64,
    /// Instructions accepted, if ever.
    pub accepted: Option<f64>,
}

impl Verdict {
    /// Returns the change as a fraction of the accepted count.
    pub fn change(&self) -> Option<f64> {
        self.accepted.map(|accepted| self.now / accepted - 1.0)
    }

    /// Returns true if this must fail: too large an increase, or never accepted.
    pub fn fails(&self) -> bool {
        self.change().is_none_or(|change| change > TOLERANCE)
    }

    /// Returns the verdict as a line for `cargo xtask bench`, if a count was accepted.
    pub fn line(&self) -> Option<String> {
        let most = 1.0 + TOLERANCE;
        let bound = format!("≤ {most} × baseline.json");
        let times = self.now / self.accepted? / most;
        Some(verdict_line(
            "guard",
            self.name,
            &bound,
            !self.fails(),
            times,
        ))
    }
}

/// Counts the operations and compares each with the baseline.
///
/// # Errors
/// A count or the baseline's file failed; in words.
pub fn check(operations: &[&'static Operation]) -> Result<Vec<Verdict>, String> {
    let baseline = Baseline::read()?;
    let judge = |operation: &&'static Operation| {
        let accepted = baseline.instructions.get(operation.name).copied();
        Ok(Verdict {
            name: operation.name,
            now: instructions_of(operation)?,
            accepted,
        })
    };
    side_by_side(operations, judge)
}

/// Accepts the counts of `verdicts`, for `reason`.
///
/// # Errors
/// The baseline's file failed.
pub fn bless(verdicts: &[Verdict], reason: &str) -> Result<(), String> {
    let machine = Machine::here();
    let mut baseline = Baseline::read()?;
    let mut blessing = Blessing {
        reason: reason.to_owned(),
        commit: machine.commit,
        changes: Default::default(),
    };
    for verdict in verdicts {
        let change = match verdict.change() {
            Some(change) => format!("{:+.2} %", change * 100.0),
            None => "new".to_owned(),
        };
        blessing.changes.insert(verdict.name.to_owned(), change);
        baseline
            .instructions
            .insert(verdict.name.to_owned(), verdict.now);
    }
    baseline.compiler = machine.compiler;
    baseline.blessed.push(blessing);
    baseline.write()
}

/// The accepted counts.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Baseline {
    /// The compiler that built it.
    compiler: String,
    /// Instructions by operation.
    instructions: BTreeMap<String, f64>,
    /// Every acceptance, the newest last.
    blessed: Vec<Blessing>,
}

/// One acceptance.
#[derive(Debug, Serialize, Deserialize)]
struct Blessing {
    /// Why.
    reason: String,
    /// The commit before its own.
    commit: String,
    /// The changes, in percent.
    changes: BTreeMap<String, String>,
}

impl Baseline {
    /// Reads the file; returns an empty baseline if there is none.
    ///
    /// # Errors
    /// The file exists and is not a baseline.
    fn read() -> Result<Baseline, String> {
        let path = path();
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| format!("{}: {error}", path.display())),
            Err(_) => Ok(Baseline::default()),
        }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Those of writing.
    fn write(&self) -> Result<(), String> {
        let path = path();
        let text =
            serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        fs::write(&path, text + "\n")
            .map_err(|error| format!("{}: {error}", path.display()))
    }
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("baseline.json")
}

#[cfg(test)]
mod tests {
    use super::Verdict;
    use crate::guard::operations;

    fn verdict(now: f64, accepted: Option<f64>) -> Verdict {
        Verdict {
            name: "yield",
            now,
            accepted,
        }
    }

    // Proves: R5.
    #[test]
    fn up_to_five_percent_more_passes() {
        assert!(!verdict(104.9, Some(100.0)).fails());
        assert!(verdict(105.1, Some(100.0)).fails());
        assert!(!verdict(50.0, Some(100.0)).fails());
    }

    #[test]
    fn an_operation_without_baseline_fails() {
        assert!(verdict(1.0, None).fails());
        assert_eq!(verdict(1.0, None).line(), None);
    }

    #[test]
    fn each_operation_is_in_the_table_of_bounds() {
        let table = include_str!("../../BOUNDS.md");
        for operation in operations() {
            let name = operation.name;
            let verdict = Verdict {
                name,
                ..verdict(1.0, Some(1.0))
            };
            let line = verdict.line().unwrap();
            let words: Vec<_> = line.split('\t').take(3).collect();
            assert!(table.contains(&words.join(" | ")), "{line}");
        }
    }

    #[test]
    fn an_operation_with_baseline_has_a_verdict() {
        let line = verdict(210.0, Some(100.0)).line().unwrap();
        assert_eq!(line, "guard\tyield\t≤ 1.05 × baseline.json\tMISSED\t2.000");
        assert!(
            verdict(84.0, Some(100.0))
                .line()
                .unwrap()
                .contains("\tKEPT\t0.800")
        );
    }
}

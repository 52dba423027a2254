//! The cost of diagnostics: instructions for one operation in this build, and in one without
//! counters, notices and hooks (`--cfg pirn_bare`).

use std::path::Path;

use super::Operation;
use super::callgrind::{instructions_in, side_by_side};
use crate::base::verdict_line;

/// Maximum excess of each operation over the bare build; others are only reported. The last two
/// wait: a wait leaves a notice and is counted twice, some 30 instructions (note 027).
const CEILINGS: [(&str, f64); 6] = [
    ("spawn-batch", 0.02),
    ("yield", 0.02),
    ("channel", 0.02),
    ("buffered", 0.02),
    ("spawn-join", 0.04),
    ("rendezvous", 0.08),
];

/// A mode in which a child is counted: name, whether the ceilings apply, and environment.
type Mode = (&'static str, bool, &'static [(&'static str, &'static str)]);

const MODES: [Mode; 2] = [
    ("as it comes", true, &[]),
    (
        "slow fibers looked for",
        false,
        &[("PIRN_SLOW_FIBER", "1000")],
    ),
];

/// One operation in one mode, compared with the bare build.
#[derive(Debug)]
pub struct Cost {
    /// The name of the operation.
    pub operation: &'static str,
    /// What is switched on.
    pub mode: &'static str,
    judged: bool,
    /// Instructions in this build.
    pub full: f64,
    /// Instructions in the bare one.
    pub bare: f64,
}

impl Cost {
    /// Returns the excess, as a fraction.
    pub fn added(&self) -> f64 {
        self.full / self.bare - 1.0
    }

    /// Returns the maximum excess, as a fraction, if there is one.
    pub fn ceiling(&self) -> Option<f64> {
        let ceiling = CEILINGS.iter().find(|(name, _)| *name == self.operation);
        ceiling.filter(|_| self.judged).map(|(_, most)| *most)
    }

    /// Returns true if the excess is too large.
    pub fn fails(&self) -> bool {
        self.ceiling().is_some_and(|most| self.added() > most)
    }

    /// Returns the verdict as a line for `cargo xtask bench`, if there is one.
    pub fn line(&self) -> Option<String> {
        let most = 1.0 + self.ceiling()?;
        let bound = format!("≤ {most} × the bare build");
        let times = self.full / self.bare / most;
        Some(verdict_line(
            "cost",
            self.operation,
            &bound,
            !self.fails(),
            times,
        ))
    }
}

/// Counts the operations in this program and in `bare`, the other build of it.
///
/// # Errors
/// A count failed; in words.
pub fn costs(
    operations: &[&'static Operation],
    bare: &Path,
) -> Result<Vec<Cost>, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let costs = side_by_side(operations, |operation| {
        let bare = instructions_in(bare, operation, &[])?;
        let cost = |&(mode, judged, environment): &Mode| {
            Ok(Cost {
                operation: operation.name,
                mode,
                judged,
                full: instructions_in(&own, operation, environment)?,
                bare,
            })
        };
        MODES.iter().map(cost).collect::<Result<Vec<_>, String>>()
    })?;
    Ok(costs.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::{CEILINGS, Cost};

    fn cost(operation: &'static str, full: f64) -> Cost {
        Cost {
            operation,
            mode: "",
            judged: true,
            full,
            bare: 100.0,
        }
    }

    // Proves: P2.
    #[test]
    fn up_to_the_ceiling_passes() {
        assert!(!cost("yield", 101.9).fails());
        assert!(cost("yield", 102.1).fails());
        assert!(!cost("yield", 90.0).fails());
        assert!(!cost("spawn-join", 103.0).fails());
        assert!(cost("rendezvous", 109.0).fails());
        assert!(!cost("timer", 110.0).fails());
    }

    #[test]
    fn each_ceiling_is_in_the_table_of_bounds() {
        let table = include_str!("../../BOUNDS.md");
        for (operation, _) in CEILINGS {
            let line = cost(operation, 1.0).line().unwrap();
            let words: Vec<_> = line.split('\t').take(3).collect();
            assert!(table.contains(&words.join(" | ")), "{line}");
        }
    }

    #[test]
    fn what_is_judged_has_a_verdict() {
        let line = cost("yield", 104.04).line().unwrap();
        assert_eq!(line, "cost\tyield\t≤ 1.02 × the bare build\tMISSED\t1.020");
        assert!(cost("yield", 101.0).line().unwrap().contains("\tKEPT\t"));
        assert_eq!(cost("timer", 110.0).line(), None);
    }
}

//! The counts that every step reports, and the rule that zero tests is a failure.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

/// The numbers of tests or checks of a step, by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    /// Not measured, since this machine lacks a requirement. Always reported (`outcomes`).
    pub(crate) skipped: usize,
    /// Left out on purpose: another step runs it, or it is a part of another test.
    pub(crate) left_out: usize,
    /// Of those that passed: those that failed at the first try. Always reported too.
    pub(crate) retried: usize,
}

impl Tally {
    /// Returns the tally of one check that has passed, or else failed.
    pub(crate) fn check(passed: bool) -> Tally {
        Tally {
            passed: usize::from(passed),
            failed: usize::from(!passed),
            ..Tally::default()
        }
    }

    /// Prints the outcome of one check; returns its tally.
    pub(crate) fn printed(passed: bool, what: impl fmt::Display) -> Tally {
        println!("    {:<7} {what}", if passed { "ok" } else { "FAILED" });
        Tally::check(passed)
    }

    /// Returns the tally of one check that could not run here.
    pub(crate) fn skip() -> Tally {
        Tally {
            skipped: 1,
            ..Tally::default()
        }
    }

    /// Returns true when at least one ran and none failed.
    pub(crate) fn is_green(self) -> bool {
        self.failed == 0 && self.passed > 0
    }

    /// Returns the tally itself, or an error when nothing ran: an empty step must not pass.
    ///
    /// # Errors
    /// When neither a pass nor a failure was counted.
    pub(crate) fn nonzero(self, what: &str) -> Result<Tally, String> {
        if self.passed + self.failed == 0 {
            Err(format!("{what}: no test ran"))
        } else {
            Ok(self)
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.left_out += other.left_out;
        self.retried += other.retried;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        for (count, what) in [
            (self.skipped, "skipped"),
            (self.left_out, "left out"),
            (self.retried, "passed at another try"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        Ok(())
    }
}

/// Formats seconds with one decimal, for the steps.
pub(crate) fn seconds(d: Duration) -> String {
    format!("{:.1} s", d.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_run_is_an_error() {
        assert!(Tally::skip().nonzero("step").is_err());
        assert!(Tally::check(false).nonzero("step").is_ok());
        assert!(!Tally::default().is_green());
    }
}

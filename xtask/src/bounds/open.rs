//! Rows with bounds that are missed, lost, outdated or absent.

use std::collections::BTreeMap;

use crate::command;

use super::table::{Bound, PATH};

/// Number of commits for which a verdict is valid.
pub(super) const OLD: usize = 60;

/// The open rows, by reason.
pub(crate) type Open = BTreeMap<String, Vec<String>>;

/// Returns the commits of HEAD's history, one a line, the newest first.
///
/// # Errors
/// When git fails.
pub(crate) fn history() -> Result<String, String> {
    command::output(command::program("git").args(["rev-list", "HEAD"]))
}

/// Returns the number of commits after this one; none if it is not in the history.
fn age(history: &str, commit: &str) -> Option<usize> {
    let start = commit.trim_end_matches('+');
    history.lines().position(|commit| commit.starts_with(start))
}

/// Returns the open rows.
pub(crate) fn open(bounds: &[Bound], history: &str) -> Open {
    let mut open = Open::new();
    for bound in bounds {
        if let Some(why) = bound.open(history) {
            let reasons = open.entry(bound.row.clone()).or_default();
            if !reasons.contains(&why) {
                reasons.push(why);
            }
        }
    }
    open
}

/// Returns the problems of a row's bounds: lost ones, and cases without any.
pub(crate) fn complaints(bounds: &[Bound], row: &str, cases: &[&str]) -> Vec<String> {
    let of_row: Vec<_> = bounds.iter().filter(|bound| bound.row == row).collect();
    let is_lost = |bound: &&&Bound| bound.is_missed() && bound.last_kept != "-";
    let lost = of_row.iter().filter(is_lost).map(|bound| {
        format!(
            "{PATH}:{}: `{}` MISSES `{}`, with {} of it, and kept it at {}: \
             find the change between, or measure again on a quiet machine",
            bound.line, bound.case, bound.bound, bound.ratio, bound.last_kept
        )
    });
    let has_bound = |case: &str| of_row.iter().any(|bound| bound.case == case);
    let unbounded = cases.iter().filter(|case| !has_bound(case)).map(|case| {
        format!(
            "`bench {case}` has no bound: add its lines to {PATH}, with the verdict none"
        )
    });
    let is_named = |bound: &Bound| cases.contains(&bound.case.as_str());
    let unnamed = of_row.iter().filter(|bound| !is_named(bound)).map(|bound| {
        let Bound { line, case, .. } = bound;
        format!("{PATH}:{line}: the row does not name `bench {case}`: add it to the row's proofs")
    });
    lost.chain(unbounded).chain(unnamed).collect()
}

impl Bound {
    /// Returns the reason why the bound leaves its row open, if it does.
    fn open(&self, history: &str) -> Option<String> {
        let (case, kept) = (&self.case, &self.last_kept);
        let ratio = format!("{} × `{}`", self.ratio, self.bound);
        match &*self.verdict {
            "MISSED" => Some(format!("{case} MISSED {ratio}, kept: {kept}")),
            "none" => Some(format!("{case} never measured")),
            _ => match age(history, &self.commit) {
                Some(age) if age <= OLD => None,
                Some(age) => Some(format!("{case} measured {age} commits ago")),
                None => Some(format!("{case} measured at {}, not found", self.commit)),
            },
        }
    }
}

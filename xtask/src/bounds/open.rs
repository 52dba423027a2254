//! Rows with bounds that are missed, lost, outdated or absent.

use std::collections::BTreeMap;

use crate::command;

use super::table::{Bound, PATH, Verdict};

/// Number of commits for which a verdict is valid.
pub(super) const OLD: u32 = 60;

/// The open rows, by reason.
pub(crate) type Open = BTreeMap<String, Vec<String>>;

/// Returns the number of commits between this one and HEAD; none if it is not in HEAD's history.
pub(crate) fn age(commit: &str) -> Option<u32> {
    let commit = commit.trim_end_matches('+');
    let mut known = command::program("git");
    known.args(["merge-base", "--is-ancestor", commit, "HEAD"]);
    let mut count = command::program("git");
    count.args(["rev-list", "--count", &format!("{commit}..HEAD")]);
    let answer = |git| command::outcome(git).ok().filter(|(ok, _)| *ok);
    answer(&mut known)?;
    answer(&mut count)?.1.trim().parse().ok()
}

/// Returns the open rows.
pub(crate) fn open(bounds: &[Bound], age: impl Fn(&str) -> Option<u32>) -> Open {
    let mut ages = BTreeMap::new();
    let mut age = |commit: &str| {
        let known = ages.entry(commit.to_owned());
        *known.or_insert_with_key(|commit| age(commit))
    };
    let mut open = Open::new();
    for bound in bounds {
        if let Some(why) = bound.open(&mut age) {
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
    let of_row = || bounds.iter().filter(|bound| bound.row == row);
    let mut said = Vec::new();
    for bound in of_row().filter(|bound| bound.is_lost()) {
        let Bound {
            line,
            case,
            ratio,
            last_kept,
            ..
        } = bound;
        said.push(format!(
            "{PATH}:{line}: `{case}` MISSES `{}`, with {ratio} of it, and kept it at \
             {last_kept}: find the change between, or measure again on a quiet machine",
            bound.bound
        ));
    }
    for case in cases {
        if !of_row().any(|bound| bound.case == *case) {
            said.push(format!(
                "`bench {case}` has no bound: add its lines to {PATH}, with the verdict none"
            ));
        }
    }
    for bound in of_row().filter(|bound| !cases.contains(&&*bound.case)) {
        let Bound { line, case, .. } = bound;
        said.push(format!(
            "{PATH}:{line}: the row does not name `bench {case}`: add it to the row's proofs"
        ));
    }
    said
}

impl Bound {
    /// Returns the reason why the bound leaves its row open, if it does.
    fn open(&self, age: &mut dyn FnMut(&str) -> Option<u32>) -> Option<String> {
        let Bound { case, ratio, .. } = self;
        match self.verdict {
            Verdict::Missed => Some(format!("{case} MISSED {ratio} × `{}`", self.bound)),
            Verdict::None => Some(format!("{case} never measured")),
            Verdict::Kept => match age(&self.commit) {
                Some(age) if age <= OLD => None,
                Some(age) => Some(format!("{case} measured {age} commits ago")),
                None => Some(format!("{case} measured at {}, not found", self.commit)),
            },
        }
    }
}

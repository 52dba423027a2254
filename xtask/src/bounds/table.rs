//! Reads the table: one line for each bound.

use crate::markdown::table;
use crate::repo;

/// The table's path.
pub(crate) const PATH: &str = "bench/BOUNDS.md";
/// The head of a table, for tests.
#[cfg(test)]
pub(crate) const HEAD: &str = "| Row | Case | Figure | Bound | Verdict | Ratio | Commit | Date | Last kept |\n\
    |---|---|---|---|---|---:|---|---|---|\n";

/// The verdicts on a measurement; `none` if there is none yet.
const VERDICTS: [&str; 3] = ["KEPT", "MISSED", "none"];

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bound {
    /// In the file, from 1.
    pub(crate) line: usize,
    /// The promise.
    pub(crate) row: String,
    pub(crate) case: String,
    /// The figure of the case, and its bound, in the benches' words.
    pub(super) figure: String,
    pub(super) bound: String,
    /// One of [`VERDICTS`].
    pub(super) verdict: String,
    /// The figure as a multiple of the bound.
    pub(super) ratio: String,
    /// Ends with `+` if the tree had changes.
    pub(crate) commit: String,
    pub(super) date: String,
    /// The commit of the last verdict that was `KEPT`.
    pub(super) last_kept: String,
}

/// Reads the table of the repository.
///
/// # Errors
/// As [`parse`].
pub(crate) fn read() -> Result<Vec<Bound>, String> {
    parse(&repo::read(PATH)?)
}

/// Reads the table.
///
/// # Errors
/// When a line cannot be read: file, line and remedy.
pub(crate) fn parse(text: &str) -> Result<Vec<Bound>, String> {
    let bound = |(line, cells): (usize, Vec<&str>)| {
        let bound = entry(line, &cells);
        bound.map_err(|(wrong, remedy)| format!("{PATH}:{line}: {wrong}: {remedy}"))
    };
    let lines = table(text, "Last kept").into_iter();
    let bounds: Vec<_> = lines.map(bound).collect::<Result<_, _>>()?;
    if bounds.is_empty() {
        return Err(format!("{PATH}:1: no table of bounds: restore it from git"));
    }
    Ok(bounds)
}

/// Reads one line, or returns its error with the remedy.
fn entry(line: usize, cells: &[&str]) -> Result<Bound, (String, &'static str)> {
    let Ok(cells) = <[&str; 9]>::try_from(cells) else {
        let wrong = format!("{} columns", cells.len());
        return Err((wrong, "a line has the nine of the table's head"));
    };
    let [
        row,
        case,
        figure,
        bound,
        verdict,
        ratio,
        commit,
        date,
        last_kept,
    ] = cells.map(str::to_owned);
    if !VERDICTS.contains(&&*verdict) {
        let wrong = format!("the verdict `{verdict}`");
        return Err((wrong, "write KEPT, MISSED or none"));
    }
    let bound = Bound {
        line,
        row,
        case,
        figure,
        bound,
        verdict,
        ratio,
        commit,
        date,
        last_kept,
    };
    bound.check().map(|()| bound)
}

/// The remedy for an impossible verdict.
const ANEW: &str =
    "write the verdict none and `-` in its other columns, then run the case";

/// Maximum rounding error of ratios.
const ROUNDED: f64 = 0.005;

fn is_commit(word: &str) -> bool {
    let word = word.trim_end_matches('+');
    word.len() >= 7 && word.chars().all(|c| c.is_ascii_hexdigit())
}

impl Bound {
    /// Returns the verdict's error, with the remedy.
    fn check(&self) -> Result<(), (String, &'static str)> {
        let (bound, ratio, commit) = (&self.bound, &self.ratio, &self.commit);
        if self.last_kept != "-" && !is_commit(&self.last_kept) {
            let wrong = format!("`{}` as the commit that last kept it", self.last_kept);
            return Err((wrong, "name a commit, or `-` if there is none"));
        }
        let has_none = self.verdict == "none";
        if has_none && [ratio, commit, &self.date] == ["-"; 3] {
            return Ok(());
        }
        let times = ratio.parse::<f64>().ok().filter(|times| times.is_finite());
        let Some(times) = times.filter(|_| !has_none && is_commit(commit)) else {
            let wrong = format!("the ratio `{ratio}` at the commit `{commit}`");
            return Err((wrong, ANEW));
        };
        let is_least = bound.contains('≥');
        let beyond = if is_least { 1.0 - times } else { times - 1.0 };
        let missed = if self.is_missed() { -beyond } else { beyond };
        if missed > ROUNDED {
            let wrong = format!("the ratio {ratio} is not that verdict on `{bound}`");
            return Err((wrong, ANEW));
        }
        Ok(())
    }

    /// Returns the line of the table.
    pub(super) fn text(&self) -> String {
        let (row, case, figure) = (&*self.row, &*self.case, &*self.figure);
        let (bound, verdict, ratio) = (&*self.bound, &*self.verdict, &*self.ratio);
        let (commit, date, kept) = (&*self.commit, &*self.date, &*self.last_kept);
        let cells = [row, case, figure, bound, verdict, ratio, commit, date, kept];
        format!("| {} |", cells.join(" | "))
    }

    pub(super) fn is_missed(&self) -> bool {
        self.verdict == "MISSED"
    }
}

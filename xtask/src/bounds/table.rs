//! Reads the table: one line for each bound.

use crate::repo;

/// The table's path.
pub(crate) const PATH: &str = "bench/BOUNDS.md";

/// The verdict of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Kept,
    Missed,
    /// There is none yet.
    None,
}

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
    pub(super) verdict: Verdict,
    /// The figure as a multiple of the bound.
    pub(super) ratio: String,
    pub(super) commit: String,
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
    let mut bounds = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, l)| is_entry(l)) {
        let bound = entry(at + 1, line)
            .map_err(|(wrong, remedy)| format!("{PATH}:{}: {wrong}: {remedy}", at + 1))?;
        bounds.push(bound);
    }
    if bounds.is_empty() {
        return Err(format!("{PATH}:1: no table of bounds: restore it from git"));
    }
    Ok(bounds)
}

/// Returns true if the line is a row of the table, not its head or ruler.
fn is_entry(line: &str) -> bool {
    line.starts_with('|') && !line.starts_with("|--") && !line.starts_with("| Row ")
}

/// Reads one line, or returns its error with the remedy.
fn entry(line: usize, text: &str) -> Result<Bound, (String, &'static str)> {
    let cells: Vec<_> = text.split('|').map(|cell| cell.trim().to_owned()).collect();
    let [
        before,
        row,
        case,
        figure,
        bound,
        verdict,
        ratio,
        commit,
        date,
        last_kept,
        after,
    ] = cells.try_into().map_err(|cells: Vec<_>| {
        let wrong = format!("{} columns", cells.len().saturating_sub(2));
        (
            wrong,
            "a line has the nine of the table's head, each with `|` on both sides",
        )
    })?;
    if !before.is_empty() || !after.is_empty() {
        return Err((format!("`{after}` after the last column"), "remove it"));
    }
    let verdict = match verdict.as_str() {
        "KEPT" => Verdict::Kept,
        "MISSED" => Verdict::Missed,
        "none" => Verdict::None,
        _ => {
            let wrong = format!("the verdict `{verdict}`");
            return Err((wrong, "write KEPT, MISSED or none"));
        }
    };
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
        let Bound {
            bound,
            ratio,
            commit,
            ..
        } = self;
        if self.last_kept != "-" && !is_commit(&self.last_kept) {
            let wrong = format!("`{}` as the commit that last kept it", self.last_kept);
            return Err((wrong, "name a commit, or `-` if there is none"));
        }
        if self.verdict == Verdict::None && [ratio, commit, &self.date] == ["-"; 3] {
            return Ok(());
        }
        let times = ratio.parse::<f64>().ok().filter(|times| times.is_finite());
        let Some(times) =
            times.filter(|_| self.verdict != Verdict::None && is_commit(commit))
        else {
            let wrong = format!("the ratio `{ratio}` at the commit `{commit}`");
            return Err((wrong, ANEW));
        };
        let beyond = if bound.contains('≥') {
            1.0 - times
        } else {
            times - 1.0
        };
        let is_off = match self.verdict {
            Verdict::Kept => beyond > ROUNDED,
            _ => beyond < -ROUNDED,
        };
        if is_off {
            let wrong = format!("the ratio {ratio} is not that verdict on `{bound}`");
            return Err((wrong, ANEW));
        }
        Ok(())
    }

    /// Returns the line of the table.
    pub(super) fn text(&self) -> String {
        let verdict = match self.verdict {
            Verdict::Kept => "KEPT",
            Verdict::Missed => "MISSED",
            Verdict::None => "none",
        };
        format!(
            "| {} | {} | {} | {} | {verdict} | {} | {} | {} | {} |",
            self.row,
            self.case,
            self.figure,
            self.bound,
            self.ratio,
            self.commit,
            self.date,
            self.last_kept,
        )
    }

    /// Returns true if the bound was kept once and is missed now.
    pub(super) fn is_lost(&self) -> bool {
        self.verdict == Verdict::Missed && self.last_kept != "-"
    }
}

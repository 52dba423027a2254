//! Writes verdicts into the table.

use crate::{command, repo};

use super::table::{Bound, PATH, parse};

/// Returns the table with these verdicts, one a line in the benches' format, and the changes.
pub(super) fn updated(
    text: &str,
    verdicts: &str,
    commit: &str,
    date: &str,
) -> Result<(String, Vec<String>), String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut said = Vec::new();
    for mut bound in parse(text)? {
        for verdict in verdicts.lines() {
            if bound.take(verdict, commit, date) {
                lines[bound.line - 1] = bound.text();
                said.push(bound.text());
            }
        }
    }
    Ok((lines.join("\n") + "\n", said))
}

/// Writes these verdicts of the present code into the table.
///
/// # Errors
/// When the table cannot be read or written, or git fails.
pub(crate) fn record(verdicts: &str) -> Result<(), String> {
    let ask = |name, args: &[&str]| command::output(command::program(name).args(args));
    let head = ask("git", &["rev-parse", "--short", "HEAD"])?;
    let mut status = vec!["status", "--porcelain", "-uno", "--"];
    status.extend([":(exclude)*.md", ":(exclude)bench/results"]);
    let changed = !ask("git", &status)?.trim().is_empty();
    let commit = format!("{}{}", head.trim(), if changed { "+" } else { "" });
    let date = ask("date", &["-u", "+%F"])?;
    let (text, said) = updated(&repo::read(PATH)?, verdicts, &commit, date.trim())?;
    if said.is_empty() {
        return Ok(());
    }
    println!("    {PATH}:");
    for line in said {
        println!("    {line}");
    }
    repo::write(PATH, &text)
}

impl Bound {
    /// Records the verdict if it is about this bound; returns true if it is.
    fn take(&mut self, verdict: &str, commit: &str, date: &str) -> bool {
        let words: Vec<_> = verdict.split('\t').collect();
        let [case, figure, bound, kept, ratio] = words[..] else {
            return false;
        };
        if (case, figure, bound) != (&*self.case, &*self.figure, &*self.bound) {
            return false;
        }
        (self.ratio, self.commit, self.date) = (ratio.into(), commit.into(), date.into());
        self.verdict = kept.to_owned();
        if kept == "KEPT" {
            self.last_kept = commit.into();
        }
        true
    }
}

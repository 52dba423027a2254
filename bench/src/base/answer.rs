//! The output of a child, and its outcome; lines of verdicts.

/// The outcome of a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It printed its samples.
    Done,
    /// The peer has no such case, or is not installed; the reason.
    Skipped(String),
    /// It died, hung, or printed invalid output; the description.
    Failed(String),
}

/// The samples of one child.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its outcome.
    pub status: Status,
    /// Series and value, in the order printed.
    pub samples: Vec<(String, f64)>,
}

impl Answer {
    /// Returns the answer of a peer that has no such case.
    pub fn skipped(reason: impl Into<String>) -> Answer {
        Answer {
            status: Status::Skipped(reason.into()),
            samples: Vec::new(),
        }
    }

    /// Returns the answer of a child that failed.
    pub fn failed(what: impl Into<String>) -> Answer {
        Answer {
            status: Status::Failed(what.into()),
            samples: Vec::new(),
        }
    }

    /// Returns the answer of a child with these samples.
    pub fn done(samples: Vec<(String, f64)>) -> Answer {
        Answer {
            status: Status::Done,
            samples,
        }
    }

    /// Returns the first sample of a series.
    pub fn value(&self, series: &str) -> Option<f64> {
        let sample = self.samples.iter().find(|(name, _)| name == series);
        sample.map(|(_, value)| *value)
    }

    /// Parses the lines of a successful child.
    pub fn parse(output: &str) -> Answer {
        let mut samples = Vec::new();
        for line in output.lines() {
            if let Some(reason) = line.strip_prefix("skip ") {
                return Answer::skipped(reason);
            }
            let sample = line.rsplit_once(' ').and_then(|(series, value)| {
                Some((series.to_owned(), value.parse().ok()?))
            });
            let Some(sample) = sample else {
                return Answer::failed(format!("printed `{line}`"));
            };
            samples.push(sample);
        }
        if samples.is_empty() {
            return Answer::failed("printed nothing");
        }
        Answer::done(samples)
    }
}

/// Prints one sample of a child, which `Answer` parses.
pub fn sample(series: &str, value: f64) {
    println!("{series} {value}");
}

/// Returns a verdict as a line for `cargo xtask bench` to write into `bench/BOUNDS.md`: a case, a
/// row, a bound, `KEPT` or `MISSED`, and the figure as a multiple of the bound, with tabs between.
pub fn verdict_line(
    case: &str,
    row: &str,
    bound: &str,
    kept: bool,
    times: f64,
) -> String {
    let verdict = if kept { "KEPT" } else { "MISSED" };
    format!("{case}\t{row}\t{bound}\t{verdict}\t{times:.3}")
}

//! The output of a child, and its outcome.

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
    /// Returns an answer without samples.
    pub fn empty(status: Status) -> Answer {
        Answer {
            status,
            samples: Vec::new(),
        }
    }

    /// Parses the lines of a successful child.
    pub fn parse(output: &str) -> Answer {
        let mut samples = Vec::new();
        for line in output.lines() {
            if let Some(reason) = line.strip_prefix("skip ") {
                return Answer::empty(Status::Skipped(reason.to_owned()));
            }
            let sample = line.rsplit_once(' ').and_then(|(series, value)| {
                Some((series.to_owned(), value.parse().ok()?))
            });
            let Some(sample) = sample else {
                let what = format!("printed `{line}`");
                return Answer::empty(Status::Failed(what));
            };
            samples.push(sample);
        }
        if samples.is_empty() {
            return Answer::empty(Status::Failed("printed nothing".to_owned()));
        }
        Answer {
            status: Status::Done,
            samples,
        }
    }
}

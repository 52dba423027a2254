//! What a child printed, and how it ended.

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It printed its samples.
    Done,
    /// The peer has no such case, or is not installed; the reason.
    Skipped(String),
    /// It died, hung, or printed nonsense; what happened.
    Failed(String),
}

/// The samples of one child.
#[derive(Clone, Debug)]
pub struct Answer {
    /// How it ended.
    pub status: Status,
    /// Series and value, in the order printed.
    pub samples: Vec<(String, f64)>,
}

impl Answer {
    /// An answer without samples.
    pub fn empty(status: Status) -> Answer {
        Answer {
            status,
            samples: Vec::new(),
        }
    }

    /// Reads the lines of a child that ended well.
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

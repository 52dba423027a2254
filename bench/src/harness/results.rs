//! All samples of a run, by case and peer.

use std::collections::BTreeMap;

use super::{Answer, Status, Summary};

/// The results of one peer in one case, all repetitions together.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// The outcome of its last child; `None` before the first.
    pub status: Option<Status>,
    series: BTreeMap<String, Vec<f64>>,
}

impl Cell {
    /// Adds the output of a child.
    pub fn add(&mut self, answer: Answer) {
        self.status = Some(answer.status);
        for (series, value) in answer.samples {
            self.series.entry(series).or_default().push(value);
        }
    }

    /// Returns true if another child is useful: not after a skip or a failure.
    pub fn wants_more(&self) -> bool {
        matches!(self.status, None | Some(Status::Done))
    }

    /// The samples of one series, in the order of the repetitions.
    pub fn samples(&self, series: &str) -> &[f64] {
        self.series.get(series).map_or(&[], Vec::as_slice)
    }

    /// The distribution of one series.
    pub fn summary(&self, series: &str) -> Option<Summary> {
        self.series
            .get(series)
            .and_then(|values| Summary::of(values))
    }
}

/// The floors and one cell for each case and peer.
#[derive(Clone, Debug)]
pub struct Results {
    /// The floors, one series for each.
    pub floors: Cell,
    /// By the places of case and peer in the plan.
    pub cells: Vec<Vec<Cell>>,
    /// For each case the maximum of processors used by others before it.
    pub others: Vec<Option<f64>>,
}

impl Results {
    /// Empty cells for that many cases and peers.
    pub fn new(cases: usize, peers: usize) -> Results {
        Results {
            floors: Cell::default(),
            cells: vec![vec![Cell::default(); peers]; cases],
            others: vec![None; cases],
        }
    }

    /// Records the number of processors used by others before a case.
    pub fn note_others(&mut self, case: usize, others: Option<f64>) {
        let most = [self.others[case], others].into_iter().flatten();
        self.others[case] = most.reduce(f64::max);
    }
}

//! Distributions: nearest-rank percentiles, nothing fitted.

use serde::{Deserialize, Serialize};

/// One series in four numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The middle.
    pub median: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// How many samples there are.
    pub samples: usize,
}

impl Summary {
    /// The numbers of `values`, `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Summary> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let rank = |percent: usize| {
            let last = sorted.len().checked_sub(1)?;
            let rank = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
            Some(sorted[rank.min(last)])
        };
        Some(Summary {
            median: rank(50)?,
            p95: rank(95)?,
            p99: rank(99)?,
            samples: sorted.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Summary;

    #[test]
    fn ranks_of_a_hundred() {
        let values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let summary = Summary::of(&values).unwrap();
        assert_eq!(
            (summary.median, summary.p95, summary.p99),
            (50.0, 95.0, 99.0)
        );
        assert_eq!(summary.samples, 100);
    }

    #[test]
    fn one_value_is_every_percentile() {
        let summary = Summary::of(&[7.0]).unwrap();
        assert_eq!((summary.median, summary.p95, summary.p99), (7.0, 7.0, 7.0));
        assert_eq!(Summary::of(&[]), None);
    }
}

//! Distributions: nearest-rank percentiles, nothing fitted.
//!
//! A percentile is given only where ten samples lie beyond it: p95 needs 200 samples, p99
//! 1,000, p99.9 10,000. With fewer it would be nearly the largest sample.

use serde::{Deserialize, Serialize};

/// One series in four numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The median.
    pub median: f64,
    /// The 95th percentile, if there are samples for it.
    pub p95: Option<f64>,
    /// The 99th percentile, if there are samples for it.
    pub p99: Option<f64>,
    /// The 99.9th percentile, if there are samples for it.
    #[serde(default)]
    pub p999: Option<f64>,
    /// The largest.
    #[serde(default)]
    pub max: f64,
    /// Number of samples.
    pub samples: usize,
}

/// Number of samples beyond a percentile that is given.
const BEYOND: usize = 10;

/// Returns true if this number of samples gives this percentile, in thousandths.
pub fn gives(samples: usize, per_mille: usize) -> bool {
    samples * (1000 - per_mille) >= BEYOND * 1000
}

impl Summary {
    /// Returns the numbers of `values`, `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Summary> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let rank = |per_mille: usize| {
            let last = sorted.len().checked_sub(1)?;
            let rank = (sorted.len() * per_mille).div_ceil(1000).saturating_sub(1);
            Some(sorted[rank.min(last)])
        };
        let given =
            |per_mille| rank(per_mille).filter(|_| gives(values.len(), per_mille));
        Some(Summary {
            median: rank(500)?,
            p95: given(950),
            p99: given(990),
            p999: given(999),
            max: rank(1000)?,
            samples: sorted.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Summary;

    fn of(samples: u32) -> Summary {
        let values: Vec<f64> = (1..=samples).rev().map(f64::from).collect();
        Summary::of(&values).unwrap()
    }

    // Proves: R4.
    #[test]
    fn ranks_of_ten_thousand() {
        let summary = of(10_000);
        assert_eq!((summary.median, summary.max), (5_000.0, 10_000.0));
        assert_eq!(summary.p95, Some(9_500.0));
        assert_eq!(summary.p99, Some(9_900.0));
        assert_eq!(summary.p999, Some(9_990.0));
        assert_eq!(summary.samples, 10_000);
    }

    // Proves: R4.
    #[test]
    fn a_percentile_needs_ten_samples_beyond_it() {
        assert_eq!((of(199).p95, of(200).p95), (None, Some(190.0)));
        assert_eq!((of(999).p99, of(1_000).p99), (None, Some(990.0)));
        assert_eq!(of(9_999).p999, None);
    }

    #[test]
    fn one_value_is_the_median_and_the_largest() {
        let summary = Summary::of(&[7.0]).unwrap();
        assert_eq!((summary.median, summary.max), (7.0, 7.0));
        assert_eq!(Summary::of(&[]), None);
    }
}

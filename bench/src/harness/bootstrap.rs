//! The confidence of a ratio of two medians.
//!
//! Both peers ran in every repetition, one sample each, so a repetition is drawn as a whole: a slow
//! minute of the machine affects both. The draws are the same in every report.

use crate::base::Random;

use super::Summary;

/// Number of resamplings; more change only the third digit.
const DRAWS: usize = 4000;

/// Returns the bound that the ratio of the medians of `ours` and `theirs` keeps with a probability
/// of 95 %: from below if more is better, from above if less is. `None` without at least three
/// common repetitions.
pub fn sure_ratio(ours: &[f64], theirs: &[f64], more_is_better: bool) -> Option<f64> {
    let repetitions = ours.len();
    if repetitions < 3 || theirs.len() != repetitions {
        return None;
    }
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut draw = || ((random.draw() >> 33) as usize) % repetitions;
    let mut ratios = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let drawn: Vec<usize> = (0..repetitions).map(|_| draw()).collect();
        let median = |values: &[f64]| {
            let values: Vec<f64> = drawn.iter().map(|at| values[*at]).collect();
            Summary::of(&values).map(|summary| summary.median)
        };
        ratios.push(median(ours)? / median(theirs)?);
    }
    ratios.sort_unstable_by(f64::total_cmp);
    let at = if more_is_better {
        DRAWS / 20
    } else {
        DRAWS - DRAWS / 20 - 1
    };
    Some(ratios[at])
}

#[cfg(test)]
mod tests {
    use super::sure_ratio;

    #[test]
    fn what_is_always_twice_as_much_is_surely_so() {
        let theirs = [10.0, 11.0, 9.0, 40.0, 10.0];
        let ours = theirs.map(|value| value * 2.0);
        assert_eq!(sure_ratio(&ours, &theirs, true), Some(2.0));
        assert_eq!(sure_ratio(&ours, &theirs, false), Some(2.0));
    }

    // Proves: R10.
    #[test]
    fn what_varies_is_bounded_on_the_side_that_hurts() {
        let ours = [90.0, 95.0, 100.0, 105.0, 110.0, 100.0, 98.0];
        let theirs = [101.0, 99.0, 100.0, 103.0, 97.0, 100.0, 100.0];
        let below = sure_ratio(&ours, &theirs, true).unwrap();
        let above = sure_ratio(&ours, &theirs, false).unwrap();
        assert!(below < 1.0 && above > 1.0, "{below} {above}");
        assert!(below >= 0.87 && above <= 1.14, "{below} {above}");
    }

    /// The ratios are 1 to 5, or to 9. The median of a draw is 1 of five with a probability of
    /// 5.8 %, at most 2 of nine with 3.0 %, and at most 3 of nine with 14 %.
    // Proves: R10.
    #[test]
    fn a_bound_leaves_out_a_twentieth() {
        let (five, nine) = ([1.0, 2.0, 3.0, 4.0, 5.0], [1.0; 9]);
        assert_eq!(sure_ratio(&five, &[1.0; 5], true), Some(1.0));
        assert_eq!(sure_ratio(&five, &[1.0; 5], false), Some(5.0));
        let ours: [f64; 9] = std::array::from_fn(|at| (at + 1) as f64);
        assert_eq!(sure_ratio(&ours, &nine, true), Some(3.0));
        assert_eq!(sure_ratio(&ours, &nine, false), Some(7.0));
    }

    // Proves: R10.
    #[test]
    fn two_repetitions_say_nothing() {
        assert_eq!(sure_ratio(&[1.0, 1.0], &[1.0, 1.0], true), None);
        assert_eq!(sure_ratio(&[1.0; 5], &[1.0; 4], true), None);
    }
}

//! The results equal those of `std`'s sorts, for any input, and equal items stay in order.

use pirn::par;

use crate::par_fixture::lengths;
use crate::par_patterns::{compare, patterns};
use crate::util::{Dice, on_every_shape, scaled};

/// The longest runs: unoptimized code is slow.
const LONGEST: usize = if cfg!(debug_assertions) {
    3_000
} else {
    10_000
};

/// All functions, all patterns, compared with `std`.
// Proves: O9.
#[test]
fn everything_is_sorted() {
    on_every_shape(|runtime| {
        let mut lengths = lengths();
        lengths
            .iter_mut()
            .for_each(|n| *n = (*n).min(scaled(LONGEST)));
        lengths.sort_unstable();
        lengths.dedup();
        for n in lengths {
            for pattern in patterns(n) {
                runtime.run(|| compare(&pattern));
            }
        }
    });
}

/// Items that own memory, and items without any.
// Proves: O9.
#[test]
fn any_items_are_sorted() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            let numbers = Dice(5).many(scaled(20_000));
            let mut words: Vec<String> = numbers.iter().map(u64::to_string).collect();
            let mut expected = words.clone();
            expected.sort();
            par::sort(&mut words);
            assert_eq!(words, expected);
            let mut none = vec![(); 50_000];
            par::sort(&mut none);
            par::sort_unstable_by(&mut none, |_, _| std::cmp::Ordering::Less);
            assert_eq!(none.len(), 50_000);
            par::sort::<u8>(&mut []);
        });
    });
}

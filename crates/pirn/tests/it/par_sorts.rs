//! Sorted is what `std` sorts, whatever was there before, and equal items stay in order.

use std::cmp::Reverse;

use pirn::par;

use crate::par_rig::lengths;
use crate::rig::{Dice, on_every_shape, scaled};

/// Runs of numbers as people have them.
fn patterns(n: usize) -> Vec<Vec<u64>> {
    let mut numbers = Dice(n as u64);
    let rising: Vec<u64> = (0..n as u64).collect();
    let falling: Vec<u64> = rising.iter().rev().copied().collect();
    let mut almost = rising.clone();
    for _ in 0..n.min(3) {
        let (a, b) = (numbers.below(n), numbers.below(n));
        almost.swap(a, b);
    }
    let mut late = rising.clone();
    if let Some(last) = late.last_mut() {
        *last = 0;
    }
    let teeth = rising.iter().map(|x| x % 100).collect();
    let organ = rising.iter().map(|x| (*x).min(n as u64 - x)).collect();
    let few = (0..n).map(|_| numbers.next() % 5).collect();
    vec![
        numbers.many(n),
        rising,
        falling,
        almost,
        late,
        teeth,
        organ,
        few,
        vec![7; n],
    ]
}

/// The longest runs: unoptimized code takes its time.
const LONGEST: usize = if cfg!(debug_assertions) {
    3_000
} else {
    10_000
};

/// O9. All functions, all patterns, beside `std`.
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

fn compare(numbers: &[u64]) {
    let mut expected = numbers.to_vec();
    expected.sort_unstable();
    let sorted = |sort: &dyn Fn(&mut [u64])| {
        let mut items = numbers.to_vec();
        sort(&mut items);
        items
    };
    assert_eq!(sorted(&|items| par::sort(items)), expected);
    assert_eq!(sorted(&|items| par::sort_unstable(items)), expected);
    let mut falling = sorted(&|items| par::sort_by(items, |a, b| b.cmp(a)));
    falling.reverse();
    assert_eq!(falling, expected);
    let mut falling = sorted(&|items| par::sort_unstable_by_key(items, |x| Reverse(*x)));
    falling.reverse();
    assert_eq!(falling, expected);

    // Which of equal ones comes first shows.
    let mut pairs: Vec<(u64, usize)> = numbers.iter().map(|x| x % 50).zip(0..).collect();
    let mut expected = pairs.clone();
    expected.sort_by_key(|pair| pair.0);
    let before = pairs.clone();
    par::sort_by_key(&mut pairs, |pair| pair.0);
    assert_eq!(pairs, expected);
    let mut pairs = before;
    par::sort_by(&mut pairs, |a, b| a.0.cmp(&b.0));
    assert_eq!(pairs, expected);
}

/// Items that own memory, and items without any.
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

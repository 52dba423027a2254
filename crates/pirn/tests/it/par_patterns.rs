//! Numbers to sort, and all sorts compared with `std`'s, for tests short and long.

use std::cmp::Reverse;

use pirn::par;

use crate::util::Dice;

/// Runs of numbers with realistic patterns.
pub(crate) fn patterns(n: usize) -> Vec<Vec<u64>> {
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

/// Sorts `numbers` in every way.
pub(crate) fn compare(numbers: &[u64]) {
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

    // The order of equal ones is visible.
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

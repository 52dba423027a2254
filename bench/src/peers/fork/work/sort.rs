//! Mergesort: halves are sorted by join, and merged by join.

use crate::base::mix;

use super::super::library::Library;
use super::Work;

/// Unsorted numbers, and a buffer to sort them in.
pub(in crate::peers::fork) struct Sort {
    unsorted: Vec<u64>,
    values: Vec<u64>,
    spare: Vec<u64>,
}

impl Sort {
    /// Returns `count` numbers, the same in every run.
    pub(in crate::peers::fork) fn new(count: u64) -> Sort {
        let unsorted: Vec<u64> = (0..count).map(mix).collect();
        Sort {
            values: unsorted.clone(),
            spare: vec![0; unsorted.len()],
            unsorted,
        }
    }
}

impl Work for Sort {
    fn prepare(&mut self) {
        self.values.copy_from_slice(&self.unsorted);
    }

    fn run<L: Library>(&mut self, scope: &mut L::Scope<'_>) {
        sort::<L>(scope, &mut self.values, &mut self.spare, false);
    }

    fn check(&self) {
        assert!(self.values.is_sorted(), "the numbers are sorted");
        let digest = |values: &[u64]| {
            let add = |sum: u64, value: &u64| sum.wrapping_add(mix(*value));
            values.iter().fold(0, add)
        };
        let (before, after) = (digest(&self.unsorted), digest(&self.values));
        assert_eq!(before, after, "they are the same numbers");
    }
}

/// Sorts `values`, into `spare` if `away`, else in place; the order of the other one is
/// unspecified.
fn sort<L: Library>(
    scope: &mut L::Scope<'_>,
    values: &mut [u64],
    spare: &mut [u64],
    away: bool,
) {
    if values.len() <= LEAF {
        values.sort_unstable();
        if away {
            spare.copy_from_slice(values);
        }
        return;
    }
    let half = values.len() / 2;
    let (left, right) = values.split_at_mut(half);
    let (spare_left, spare_right) = spare.split_at_mut(half);
    L::join(
        scope,
        |scope| sort::<L>(scope, left, spare_left, !away),
        |scope| sort::<L>(scope, right, spare_right, !away),
    );
    if away {
        merge::<L>(scope, left, right, spare);
    } else {
        merge::<L>(scope, spare_left, spare_right, values);
    }
}

/// Merges two sorted slices into `out`, which is as long as both.
fn merge<L: Library>(scope: &mut L::Scope<'_>, a: &[u64], b: &[u64], out: &mut [u64]) {
    if out.len() <= LEAF {
        return merge_here(a, b, out);
    }
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let (low, high) = long.split_at(long.len() / 2);
    let cut = short.partition_point(|value| *value < high[0]);
    let (short_low, short_high) = short.split_at(cut);
    let (out_low, out_high) = out.split_at_mut(low.len() + cut);
    L::join(
        scope,
        |scope| merge::<L>(scope, low, short_low, out_low),
        |scope| merge::<L>(scope, high, short_high, out_high),
    );
}

fn merge_here(a: &[u64], b: &[u64], out: &mut [u64]) {
    let (mut i, mut j) = (0, 0);
    let mut places = out.iter_mut();
    while i < a.len() && j < b.len() {
        let first = a[i] <= b[j];
        let place = places.next().expect("there is room for both");
        *place = if first { a[i] } else { b[j] };
        i += usize::from(first);
        j += usize::from(!first);
    }
    let rest = places.into_slice();
    let (rest_a, rest_b) = rest.split_at_mut(a.len() - i);
    rest_a.copy_from_slice(&a[i..]);
    rest_b.copy_from_slice(&b[j..]);
}

/// Some tens of microseconds to sort: arbitrary.
const LEAF: usize = 2048;

//! The places at which loops cut their items, where timing has no part in them.

use std::ops::Range;
use std::sync::Mutex;

use pirn::par::{self, Split};
use pirn::{Runtime, runtime};

/// A run of numbers that records each piece that is processed at once.
struct Recorded<'a>(Range<usize>, &'a Mutex<Vec<Range<usize>>>);

impl Split for Recorded<'_> {
    type Item = usize;

    fn len(&self) -> usize {
        Split::len(&self.0)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = Split::split_at(self.0, index);
        (Recorded(left, self.1), Recorded(right, self.1))
    }

    fn each(self, f: impl FnMut(usize)) {
        self.1.lock().unwrap().push(self.0.clone());
        self.0.for_each(f);
    }
}

/// Returns the pieces in which `work` processes `n` items with that grain, in the order of items.
fn pieces(
    n: usize,
    grain: usize,
    work: impl Fn(par::Grain<Recorded<'_>>),
) -> Vec<Range<usize>> {
    let pieces = Mutex::new(Vec::new());
    work(Recorded(0..n, &pieces).grain(grain));
    let mut pieces = pieces.into_inner().unwrap();
    pieces.sort_unstable_by_key(|piece| piece.start);
    let ends = pieces.iter().map(|piece| piece.end);
    let starts = pieces.iter().map(|piece| piece.start);
    assert!([0].into_iter().chain(ends).eq(starts.chain([n])));
    pieces
}

fn lengths(pieces: &[Range<usize>]) -> Vec<usize> {
    pieces.iter().map(Split::len).collect()
}

type Work = fn(par::Grain<Recorded<'_>>);

/// Loops over recorded items.
const LOOPS: [(&str, Work); 2] = [
    ("for_each", |items| par::for_each(items, |_| ())),
    ("map_reduce", |items| {
        par::map_reduce(items, || (), |_| (), |(), ()| ());
    }),
];

/// Where no request comes, the pieces of a block double, and another block begins with an eighth of
/// the longest. Nothing sends requests to a runtime that is driven by hand.
// Proves: O9-cuts.
#[test]
fn pieces_double_without_requests() {
    const BLOCK: usize = 4096;
    let runtime = Runtime::builder().workers(0).build().unwrap();
    for (name, work) in LOOPS {
        let pieces = runtime.run(|| pieces(32 * BLOCK, 1, work));
        let blocks = pieces.chunk_by(|_, next| !next.start.is_multiple_of(BLOCK));
        let blocks: Vec<_> = blocks.map(lengths).collect();
        let mut first: Vec<usize> = (0..12).map(|n| 1 << n).collect();
        first.push(1);
        assert_eq!(blocks[0], first, "{name}");
        for block in &blocks[1..] {
            assert_eq!(block, &[512, 1024, 2048, 512], "{name}");
        }
        assert_eq!(blocks.len(), 32, "{name}");
    }
}

/// Where a request comes after every piece, the pieces stay as short as they may be: the rest of a
/// block is cut each time. A seed makes every check find a request.
// Proves: O9-cuts.
#[test]
fn pieces_stay_short_under_requests() {
    for (name, work) in LOOPS {
        runtime::test(|_| {
            assert_eq!(lengths(&pieces(10_000, 1, work)), [1; 10_000], "{name}");
            let lengths = lengths(&pieces(10_000, 10, work));
            assert!(
                lengths.iter().all(|n| (10..20).contains(n)),
                "{name}: {lengths:?}"
            );
        });
    }
}

/// Long runs are cut at multiples of 64 items, and no part is shorter than the grain.
// Proves: O9-cuts.
#[test]
fn long_runs_are_cut_at_even_places() {
    const GRAIN: usize = 5_000;
    for workers in [0, 1, 2] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        for n in [(1 << 17) + 77, 3 * (1 << 16) + 1] {
            let pieces = runtime.run(|| pieces(n, GRAIN, LOOPS[0].1));
            assert!(pieces.len() >= n / (2 * GRAIN), "{pieces:?}");
            for piece in pieces {
                assert!(piece.start.is_multiple_of(64), "{piece:?}");
                assert!(Split::len(&piece) >= GRAIN, "{piece:?}");
            }
        }
    }
}

//! Chunks of the same length, and chunks from the end: those of `std`, wherever they are cut.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::Interrupt;
use pirn::cancel::Token;
use pirn::par::{self, Split};

use crate::par_fixture::{Bomb, check_cuts};
use crate::util::on_every_shape;

/// Lengths of slices around multiples of the lengths of chunks, with the latter.
fn shapes() -> Vec<(usize, usize)> {
    let mut shapes = vec![(0, usize::MAX), (3, usize::MAX), (3, usize::MAX / 2)];
    for n in [1, 2, 3, 7, 64] {
        let lens = [
            0,
            1,
            n - 1,
            n,
            n + 1,
            2 * n - 1,
            2 * n,
            2 * n + 1,
            9 * n + 1,
        ];
        shapes.extend(lens.map(|len| (len, n)));
    }
    shapes
}

/// Writes the number of each chunk into its items, of a run that is cut before chunk `at`.
fn number<'a>(chunks: impl Split<Item = &'a mut [usize]>, at: usize) {
    let (left, right) = chunks.split_at(at);
    let mut next = 1;
    left.each(|chunk| {
        chunk.fill(next);
        next += 1;
    });
    for chunk in right.items() {
        chunk.fill(next);
        next += 1;
    }
}

/// Shared and mutable chunks, of every length of slice, cut at every place.
// Proves: O9.
#[test]
fn chunks_are_those_of_std() {
    for (len, n) in shapes() {
        let items: Vec<usize> = (0..len).collect();
        let exact: Vec<_> = items.chunks_exact(n).collect();
        check_cuts(|| par::chunks_exact(&items, n), &exact);
        let reverse: Vec<_> = items.rchunks(n).collect();
        check_cuts(|| par::rchunks(&items, n), &reverse);
        let both: Vec<_> = items.rchunks_exact(n).collect();
        check_cuts(|| par::rchunks_exact(&items, n), &both);

        for at in 0..=exact.len() {
            let (mut cut, mut whole) = (vec![0; len], vec![0; len]);
            number(par::chunks_exact_mut(&mut cut, n), at);
            let numbered = whole.chunks_exact_mut(n).zip(1..);
            numbered.for_each(|(chunk, n)| chunk.fill(n));
            assert_eq!(cut, whole, "{len} items in chunks of {n}, cut at {at}");
        }
        for at in 0..=reverse.len() {
            let (mut cut, mut whole) = (vec![0; len], vec![0; len]);
            number(par::rchunks_mut(&mut cut, n), at);
            whole
                .rchunks_mut(n)
                .zip(1..)
                .for_each(|(chunk, n)| chunk.fill(n));
            assert_eq!(cut, whole, "{len} items in chunks of {n}, cut at {at}");
        }
        for at in 0..=both.len() {
            let (mut cut, mut whole) = (vec![0; len], vec![0; len]);
            number(par::rchunks_exact_mut(&mut cut, n), at);
            let numbered = whole.rchunks_exact_mut(n).zip(1..);
            numbered.for_each(|(chunk, n)| chunk.fill(n));
            assert_eq!(cut, whole, "{len} items in chunks of {n}, cut at {at}");
        }
    }
}

/// The rest that fills no chunk is what `std` leaves out, and belongs to the second part of a cut.
// Proves: O9.
#[test]
fn the_rest_stays_with_the_end() {
    for (len, n) in shapes() {
        let mut items: Vec<usize> = (0..len).collect();
        let rest = items.chunks_exact(n).remainder().to_vec();
        let chunks = par::chunks_exact(&items, n);
        assert_eq!(chunks.remainder(), rest);
        assert_eq!(chunks.clone().remainder(), rest);
        let (left, right) = chunks.split_at(len / n);
        assert!(left.remainder().is_empty());
        assert_eq!(right.remainder(), rest);

        let mut chunks = par::chunks_exact_mut(&mut items, n);
        assert_eq!(chunks.take_remainder(), rest);
        assert!(chunks.take_remainder().is_empty());
        assert_eq!(chunks.len(), len / n);
        let (mut left, mut right) =
            par::chunks_exact_mut(&mut items, n).split_at(len / n / 2);
        assert!(left.take_remainder().is_empty());
        assert_eq!(right.take_remainder(), rest);
    }
}

/// The same with chunks from the end, where the second part is the beginning of the slice.
// Proves: O9.
#[test]
fn the_rest_before_reverse_chunks_stays_with_the_beginning() {
    for (len, n) in shapes() {
        let mut items: Vec<usize> = (0..len).collect();
        let rest = items.rchunks_exact(n).remainder().to_vec();
        let chunks = par::rchunks_exact(&items, n);
        assert_eq!(chunks.remainder(), rest);
        assert_eq!(chunks.clone().remainder(), rest);
        let (left, right) = chunks.split_at(len / n);
        assert!(left.remainder().is_empty());
        assert_eq!(right.remainder(), rest);

        let mut chunks = par::rchunks_exact_mut(&mut items, n);
        assert_eq!(chunks.take_remainder(), rest);
        assert!(chunks.take_remainder().is_empty());
        assert_eq!(chunks.len(), len / n);
        let (mut left, mut right) =
            par::rchunks_exact_mut(&mut items, n).split_at(len / n / 2);
        assert!(left.take_remainder().is_empty());
        assert_eq!(right.take_remainder(), rest);
    }
}

/// Loops over chunks of a long slice, beside a vector, on every shape of runtime.
// Proves: O9.
#[test]
fn loops_over_chunks_do_what_std_does() {
    const LEN: usize = 10_007;
    on_every_shape(|runtime| {
        for n in [1, 16, 17, LEN - 1, LEN, LEN + 1] {
            let [mut exact, mut reverse, mut both] = [(); 3].map(|()| vec![0; LEN]);
            let factors: Vec<usize> = (1..=LEN).collect();
            let fill = |(chunk, factor): (&mut [usize], usize)| {
                let cells = chunk.iter_mut().enumerate();
                cells.for_each(|(at, cell)| *cell = at + factor);
            };
            let (lens, starts) = runtime.run(|| {
                let run = par::chunks_exact_mut(&mut exact, n);
                par::for_each((run, factors.clone()), fill);
                let run = par::rchunks_mut(&mut reverse, n);
                par::for_each((run, factors.clone()), fill);
                let run = par::rchunks_exact_mut(&mut both, n);
                par::for_each((run, factors.clone()), fill);
                let lens = par::map(par::chunks_exact(&factors, n), <[usize]>::len);
                let starts = par::map(par::rchunks(&factors, n), |chunk| chunk[0]);
                (lens, starts)
            });
            assert_eq!(lens, vec![n; LEN / n]);
            let chunks = factors.rchunks(n).map(|chunk| chunk[0]);
            assert!(chunks.eq(starts));
            let mut expected = [(); 3].map(|()| vec![0; LEN]);
            expected[0].chunks_exact_mut(n).zip(1..).for_each(fill);
            expected[1].rchunks_mut(n).zip(1..).for_each(fill);
            expected[2].rchunks_exact_mut(n).zip(1..).for_each(fill);
            assert_eq!([exact, reverse, both], expected, "chunks of {n}");
        }
    });
}

/// A panic in a chunk ends the loop and is raised; a run without loops takes no harm.
// Proves: O9.
#[test]
fn a_panic_in_a_chunk_is_raised() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            let mut items = vec![0; 1_000];
            for at in [0, 1, 50, 99] {
                let bomb = Bomb::after(at);
                let raised = catch_unwind(AssertUnwindSafe(|| {
                    let chunks = par::chunks_exact_mut(&mut items, 10);
                    par::for_each(chunks, |_| bomb.tick());
                }));
                assert_eq!(raised.unwrap_err().downcast_ref(), Some(&"boom"));
                let bomb = Bomb::after(at);
                let raised = catch_unwind(AssertUnwindSafe(|| {
                    par::map(par::rchunks(&items, 10), |_| bomb.tick())
                }));
                assert_eq!(raised.unwrap_err().downcast_ref(), Some(&"boom"));
            }
        });
    });
}

/// A cancellation leaves most of the chunks alone.
// Proves: O9.
#[test]
fn a_cancellation_ends_a_loop_over_chunks() {
    fn until_cancelled<'a>(chunks: impl Split<Item = &'a [u8]>) -> usize {
        let (token, looked) = (Token::new(), AtomicUsize::new(0));
        let result = token.enter(|| {
            par::try_for_each(chunks, |_| {
                let before = looked.fetch_add(1, Ordering::SeqCst);
                if before == 100 {
                    token.cancel();
                }
                // However long the canceller's worker is delayed.
                while before > 100 && !token.is_cancelled() {
                    pirn::yield_now();
                }
                Ok::<_, Interrupt>(())
            })
        });
        assert_eq!(result, Err(Interrupt::Cancelled));
        looked.into_inner()
    }
    let items = vec![0_u8; 2_000_000];
    on_every_shape(|runtime| {
        let looked = runtime.run(|| {
            [
                until_cancelled(par::chunks_exact(&items, 2)),
                until_cancelled(par::rchunks(&items, 2)),
            ]
        });
        assert!(looked.iter().all(|looked| *looked < 500_000), "{looked:?}");
    });
}

/// Chunks without items, and cuts behind the last chunk, are refused.
#[test]
fn wrong_lengths_and_places_are_refused() {
    #[track_caller]
    fn refused<R>(work: impl FnOnce() -> R, expected: &str) {
        let raised = catch_unwind(AssertUnwindSafe(work)).err();
        let raised = raised.expect("it panics");
        let said = raised.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| raised.downcast_ref::<&str>().copied());
        assert_eq!(said, Some(expected));
    }
    let mut items = [1, 2, 3];
    refused(|| drop(par::chunks_exact(&[1], 0)), "chunks of 0 items");
    refused(|| drop(par::rchunks(&[1], 0)), "chunks of 0 items");
    refused(|| drop(par::rchunks_exact(&[1], 0)), "chunks of 0 items");
    refused(
        || drop(par::chunks_exact_mut(&mut items, 0)),
        "chunks of 0 items",
    );
    refused(
        || drop(par::rchunks_mut(&mut items, 0)),
        "chunks of 0 items",
    );
    refused(
        || drop(par::rchunks_exact_mut(&mut items, 0)),
        "chunks of 0 items",
    );
    let outside = "3 is outside of the chunks";
    refused(|| drop(par::chunks_exact(&[1; 5], 2).split_at(3)), outside);
    refused(|| drop(par::rchunks_exact(&[1; 5], 2).split_at(3)), outside);
    refused(|| drop(par::rchunks(&[1; 4], 2).split_at(3)), outside);
    let outside = "2 is outside of the chunks";
    refused(
        || drop(par::chunks_exact_mut(&mut items, 2).split_at(2)),
        outside,
    );
    refused(
        || drop(par::rchunks_exact_mut(&mut items, 2).split_at(2)),
        outside,
    );
    let outside = "9 is outside of the chunks";
    refused(
        || drop(par::rchunks_mut(&mut items, 2).split_at(9)),
        outside,
    );
}

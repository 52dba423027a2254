//! The cases of fork-join.

use super::fork_rows::{
    COARSE, COARSE_TWO, FIB, FIB_TWO, FRAMES, LATE, SUM_TWO, TREE, TREE_TWO,
};
use super::table::BASE;
use super::{Case, Fork, Kind, Row};

pub(super) const FORK: &[Case] = &[
    fork(
        ("fork-fib", "fib(32) without a cut-off, one worker"),
        (Fork::Fib, 1, 4_000_000),
        FIB,
    ),
    fork(
        ("fork-fib-2w", "fib(32) without a cut-off, two workers"),
        (Fork::Fib, 2, 4_000_000),
        FIB_TWO,
    ),
    fork(
        (
            "fork-tree",
            "the sum over a million boxed nodes, one worker",
        ),
        (Fork::Tree, 1, 1 << 20),
        TREE,
    ),
    fork(
        (
            "fork-tree-2w",
            "the sum over a million boxed nodes, two workers",
        ),
        (Fork::Tree, 2, 1 << 20),
        TREE_TWO,
    ),
    fork(
        ("fork-sum", "the sum of 100 MB, one worker"),
        (Fork::Sum, 1, 12_500_000),
        COARSE,
    ),
    fork(
        ("fork-sum-2w", "the sum of 100 MB, two workers"),
        (Fork::Sum, 2, 12_500_000),
        SUM_TWO,
    ),
    fork(
        ("fork-sort", "mergesort of a million numbers, one worker"),
        (Fork::Mergesort, 1, 1 << 20),
        COARSE,
    ),
    fork(
        (
            "fork-sort-2w",
            "mergesort of a million numbers, two workers",
        ),
        (Fork::Mergesort, 2, 1 << 20),
        COARSE_TWO,
    ),
    fork(
        ("fork-queens", "13 queens, one worker"),
        (Fork::Queens, 1, 5_000_000),
        COARSE,
    ),
    fork(
        ("fork-queens-2w", "13 queens, two workers"),
        (Fork::Queens, 2, 5_000_000),
        COARSE_TWO,
    ),
    fork(
        ("fork-matmul", "matrices of 512 by 512, one worker"),
        (Fork::Matmul, 1, 512),
        COARSE,
    ),
    fork(
        ("fork-matmul-2w", "matrices of 512 by 512, two workers"),
        (Fork::Matmul, 2, 512),
        COARSE_TWO,
    ),
    fork(
        (
            "fork-mandelbrot",
            "a Mandelbrot set of 512 rows, one worker",
        ),
        (Fork::Mandelbrot, 1, 512),
        COARSE,
    ),
    fork(
        (
            "fork-mandelbrot-2w",
            "a Mandelbrot set of 512 rows, two workers",
        ),
        (Fork::Mandelbrot, 2, 512),
        COARSE_TWO,
    ),
    frames("fork-frame-50", "frames of 50 µs of work, two workers", 50),
    frames(
        "fork-frame-200",
        "frames of 200 µs of work, two workers",
        200,
    ),
    frames(
        "fork-frame-1000",
        "frames of 1 ms of work, two workers",
        1000,
    ),
    Case {
        rounds: 1,
        ..fork(
            (
                "fork-late",
                "a sleeper beside eight jobs with pieces of 100 µs, two workers",
            ),
            (Fork::Late, 2, 500),
            LATE,
        )
    },
];

const fn fork(
    (name, title): (&'static str, &'static str),
    (work, workers, n): (Fork, usize, u64),
    rows: &'static [Row],
) -> Case {
    Case {
        name,
        kind: Kind::Fork(work),
        title,
        workers,
        n,
        rows,
        ..BASE
    }
}

const fn frames(name: &'static str, title: &'static str, micros: u64) -> Case {
    Case {
        // Arbitrary: a tenth of a second of work in each of the two ways.
        rounds: 1,
        ..fork(
            (name, title),
            (Fork::Frames(micros), 2, 100_000 / micros),
            FRAMES,
        )
    }
}

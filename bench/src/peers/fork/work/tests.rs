//! Every workload finds its answer with the simplest library, and detects a missing one.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::super::libraries::Serial;
use super::*;

/// Checks fail before the first round and after a cleared one, and pass after each completed one.
fn knows_its_answer(mut work: impl Work) {
    let mut round = |done: bool| {
        work.prepare();
        if done {
            work.run::<Serial>(&mut ());
        }
        catch_unwind(AssertUnwindSafe(|| work.check())).is_ok()
    };
    assert_eq!([round(false), round(true)], [false, true]);
    assert_eq!([round(false), round(true)], [false, true]);
}

// Proves: R14.
#[test]
fn what_was_not_computed_is_no_answer() {
    for size in [100, 3_000, 20_000] {
        knows_its_answer(Counted::new(Fib::new(size)));
        knows_its_answer(Counted::new(Tree::new(size)));
        knows_its_answer(Counted::new(Sum::new(size)));
        knows_its_answer(Sort::new(size));
        knows_its_answer(Counted::new(Queens::new(size)));
        knows_its_answer(Counted::new(Frame::new(size / 100)));
    }
    for size in [4, 5, 51, 64] {
        knows_its_answer(Matmul::new(size));
        knows_its_answer(Mandelbrot::new(size));
    }
}

// Proves: R14.
#[test]
fn the_joins_of_a_number_are_counted() {
    assert_eq!(Fib::new(1).joins(), Some(1));
    assert_eq!(Fib::new(4).joins(), Some(4));
    assert_eq!(Fib::new(11).joins(), Some(7));
    assert_eq!(Fib::new(4_000_000).joins(), Some(3_524_577));
}

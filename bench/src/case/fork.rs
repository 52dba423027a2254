//! The kinds of work that is divided in two recursively by a join of two closures.

/// The work; the meaning of `n` differs for each and is given here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fork {
    /// The largest Fibonacci number that takes at most `n` joins, without a cut-off: the cost of a
    /// join that is not stolen.
    Fib,
    /// The sum over a balanced tree of at most `n` boxed nodes, a join at each.
    Tree,
    /// The sum of `n` numbers, by the function of each library.
    Sum,
    /// `n` numbers sorted: halves by join, and merges of halves by join.
    Mergesort,
    /// All solutions for the most queens that can be placed in at most `n` ways on any number of
    /// rows; the first rows by joins over halves of the columns.
    Queens,
    /// The product of two square matrices with `n` rows.
    Matmul,
    /// A Mandelbrot set of `n` rows, some of which take a hundred times as long as others.
    Mandelbrot,
    /// `n` jobs one after the other, like the frames of a game, each of about this many
    /// microseconds of work in 64 equal pieces.
    Frames(u64),
    /// `n` sleeps of a millisecond beside eight jobs that divide themselves into pieces of 100 µs.
    Late,
}

//! What can be worked through in parallel: a run of items that can be cut in two.
//!
//! Owns: the trait [`Split`] and the combinator [`Grain`]. Does not own: where runs are
//! cut and when (`spread`), or the runs of the standard library's types (`slices`,
//! `ranges`, `pairs`, `owned`).
//!
//! Why `each` takes a closure of any type and not a `dyn FnMut`: a call through a table
//! for each item costs what the sum of an item costs, and the optimizer cannot see
//! through it.

/// A run of items that can be cut in two, and the halves again: what the functions of
/// [`par`](super) work through.
///
/// There are runs for `&[T]` and `&mut [T]`; `Vec<T>`, by value; ranges of integers;
/// [`Chunks`](super::Chunks) and [`ChunksMut`](super::ChunksMut); and a pair of runs,
/// which goes through both side by side and is as long as the shorter. Of a vector `v`
/// that is only looked at, write `&v[..]`.
///
/// Of one's own, three methods are needed. A run that lies about its [`len`](Self::len)
/// has no promises about results: [`map`](super::map()) panics if there are fewer items,
/// and leaves out what is more.
///
/// # Panics
/// [`len`](Self::len) of a range of more than `usize::MAX` items, as `0..=u64::MAX` or
/// half of all `u128`s, and so whatever works through it.
///
/// The trait's names are short. Where it is imported, `vec.split_at(i)` of a `Vec` is its
/// method, which takes the vector (write `vec[..].split_at(i)`); and `(0..n).len()` may
/// be either trait's, which the compiler asks about (write
/// `ExactSizeIterator::len(&(0..n))`).
///
/// ```
/// use pirn::par::{self, Split};
///
/// /// Every second number of a range.
/// struct Even(std::ops::Range<u64>);
///
/// impl Split for Even {
///     type Item = u64;
///
///     fn len(&self) -> usize {
///         (self.0.end - self.0.start).div_ceil(2) as usize
///     }
///
///     fn split_at(self, index: usize) -> (Even, Even) {
///         let middle = (self.0.start + 2 * index as u64).min(self.0.end);
///         (Even(self.0.start..middle), Even(middle..self.0.end))
///     }
///
///     fn each(self, f: impl FnMut(u64)) {
///         self.0.step_by(2).for_each(f);
///     }
/// }
///
/// let sum: u64 = par::sum(Even(0..1_001));
/// assert_eq!(sum, 250_500);
/// ```
#[diagnostic::on_unimplemented(
    note = "for a vector or an array that is only looked at, write `&v[..]`"
)]
pub trait Split: Send + Sized {
    /// What the run consists of.
    type Item: Send;

    /// How many items there are.
    fn len(&self) -> usize;

    /// The first `index` items, and the others. `index` is at most [`len`](Self::len).
    fn split_at(self, index: usize) -> (Self, Self);

    /// Calls `f` with every item, in order.
    fn each(self, f: impl FnMut(Self::Item));

    /// True if there are no items.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items as an iterator, in order. By default they are collected first; a run
    /// that has an iterator of its own should say so here.
    fn items(self) -> impl Iterator<Item = Self::Item> {
        let mut items = Vec::with_capacity(self.len());
        self.each(|item| items.push(item));
        items.into_iter()
    }

    /// What is cut in place of this run: by default itself. For runs that are dear to cut
    /// as they are, as a `Vec` is.
    fn parts(self) -> impl Split<Item = Self::Item> {
        self
    }

    /// The fewest items that are worth work of their own: 1 unless [`grain`](Self::grain)
    /// says otherwise.
    fn least(&self) -> usize {
        1
    }

    /// The same run, which is never cut so that a part has fewer than `n` items. (A run
    /// that is shorter is one part.) The counterpart of rayon's `with_min_len`, but not
    /// needed for speed: how much is done at a time adapts itself. For work that is
    /// better for larger parts, as where each allocates. 0 is 1.
    ///
    /// ```
    /// use pirn::par::{self, Split};
    ///
    /// let squares = par::map((0..1_000u64).grain(100), |n| n * n);
    /// assert_eq!(squares[999], 998_001);
    /// ```
    #[must_use = "a run with a grain is another run"]
    fn grain(self, n: usize) -> Grain<Self> {
        Grain { run: self, n }
    }
}

/// A run that is not cut into parts of fewer items than so many. Made by
/// [`Split::grain`].
#[derive(Debug, Clone)]
#[must_use = "a run does nothing by itself"]
pub struct Grain<S> {
    run: S,
    n: usize,
}

impl<S: Split> Split for Grain<S> {
    type Item = S::Item;

    #[track_caller]
    fn len(&self) -> usize {
        self.run.len()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let Grain { run, n } = self;
        let (left, right) = run.split_at(index);
        (left.grain(n), right.grain(n))
    }

    fn each(self, f: impl FnMut(S::Item)) {
        self.run.each(f);
    }

    fn items(self) -> impl Iterator<Item = S::Item> {
        self.run.items()
    }

    fn parts(self) -> impl Split<Item = S::Item> {
        let Grain { run, n } = self;
        run.parts().grain(n)
    }

    fn least(&self) -> usize {
        self.n.max(self.run.least())
    }
}

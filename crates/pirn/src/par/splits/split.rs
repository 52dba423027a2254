//! Inputs of parallel work: a run of items that can be cut in two.
//!
//! Owns: the trait [`Split`] and the combinator [`Grain`]. Does not own: where and when
//! runs are cut (`divide`), or the runs of the standard library's types (`slices`,
//! `exact`, `reverse`, `ranges`, `pairs`, `owned`).
//!
//! `each` takes a closure of any type and not a `dyn FnMut`. An indirect call for each
//! item costs as much as the sum of an item, and the optimizer cannot see through it.

/// A run of items that can be cut in two repeatedly: the input of the functions of
/// [`par`](crate::par).
///
/// Implemented for `&[T]` and `&mut [T]`; `Vec<T>`, by value; ranges of integers; the
/// chunks of a slice ([`chunks`](crate::par::chunks),
/// [`chunks_exact`](crate::par::chunks_exact), [`rchunks`](crate::par::rchunks),
/// [`rchunks_exact`](crate::par::rchunks_exact), and the same with `_mut`); and pairs
/// of runs, which are processed in lockstep and are as long as the shorter. Pass a
/// vector `v` that is only read as `&v[..]`.
///
/// Implementors provide three methods. If [`len`](Self::len) is wrong, results are
/// unspecified, but safe: [`map`](crate::par::map()) panics if there are fewer items, and
/// leaves out surplus ones.
///
/// # Panics
/// [`len`](Self::len) of a range of more than `usize::MAX` items, like `0..=u64::MAX` or
/// half of all `u128`s, and so every function on it.
///
/// # Names
/// The trait's names are short. Where it is imported, `vec.split_at(i)` of a `Vec` is
/// this trait's method, which takes the vector (write `vec[..].split_at(i)`).
/// `(0..n).len()` may then belong to either trait, which the compiler reports as
/// ambiguous (write `ExactSizeIterator::len(&(0..n))`).
///
/// # Examples
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
#[doc(alias = "Producer")]
#[doc(alias = "ParallelIterator")]
#[doc(alias = "IndexedParallelIterator")]
#[doc(alias = "IntoParallelIterator")]
#[diagnostic::on_unimplemented(
    note = "for a vector or an array that is only looked at, write `&v[..]`"
)]
pub trait Split: Send + Sized {
    /// The type of the items.
    type Item: Send;

    /// Returns the number of items.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::Split;
    ///
    /// assert_eq!(Split::len(&(3..10_u8)), 7);
    /// ```
    fn len(&self) -> usize;

    /// Returns the first `index` items, and the others. `index` is at most
    /// [`len`](Self::len).
    ///
    /// # Examples
    /// ```
    /// use pirn::par::Split;
    ///
    /// assert_eq!(Split::split_at(0..10_u32, 4), (0..4, 4..10));
    /// ```
    fn split_at(self, index: usize) -> (Self, Self);

    /// Calls `f` with every item, in order.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::Split;
    ///
    /// let mut sum = 0;
    /// Split::each(1..=3_u32, |n| sum += n);
    /// assert_eq!(sum, 6);
    /// ```
    fn each(self, f: impl FnMut(Self::Item));

    /// Returns true if there are no items.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::Split;
    ///
    /// let none: &[u8] = &[];
    /// assert!(Split::is_empty(&none) && !Split::is_empty(&(0..3_u8)));
    /// ```
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the items as an iterator, in order. By default they are collected first;
    /// implement this for a run that has its own iterator.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::Split;
    ///
    /// let doubled: Vec<u32> = Split::items(1..4_u32).map(|n| 2 * n).collect();
    /// assert_eq!(doubled, [2, 4, 6]);
    /// ```
    fn items(self) -> impl Iterator<Item = Self::Item> {
        let mut items = Vec::with_capacity(self.len());
        self.each(|item| items.push(item));
        items.into_iter()
    }

    /// Returns the run that is cut in place of this one: by default itself. For runs that
    /// are expensive to cut, like a `Vec`.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::Split;
    ///
    /// // The items of a vector stay where they are.
    /// let (left, right) = vec!["a", "b", "c"].parts().split_at(1);
    /// assert_eq!((left.len(), right.len()), (1, 2));
    /// ```
    fn parts(self) -> impl Split<Item = Self::Item> {
        self
    }

    /// Returns the fewest items that are worth separate work: 1 unless
    /// [`grain`](Self::grain) sets another value.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::Split;
    ///
    /// assert_eq!(Split::least(&(0..9_u8)), 1);
    /// assert_eq!((0..9_u8).grain(4).least(), 4);
    /// ```
    fn least(&self) -> usize {
        1
    }

    /// Returns the same run, which is never cut into parts of fewer than `n` items; 0
    /// counts as 1. (A shorter run is one part.)
    ///
    /// This is the counterpart of rayon's `with_min_len`, but not needed for speed, since
    /// the size of pieces adapts. It is for work that gains from larger parts, for
    /// instance if each part allocates.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::{self, Split};
    ///
    /// let squares = par::map((0..1_000u64).grain(100), |n| n * n);
    /// assert_eq!(squares[999], 998_001);
    /// ```
    #[doc(alias = "with_min_len")]
    #[must_use = "a run with a grain is another run"]
    fn grain(self, n: usize) -> Grain<Self> {
        Grain { run: self, n }
    }
}

/// A run with a minimum length of parts; created by [`Split::grain`].
///
/// # Examples
/// ```
/// use std::ops::Range;
/// use pirn::par::{self, Grain, Split};
///
/// let numbers: Grain<Range<u32>> = (0..1_000_u32).grain(250);
/// assert_eq!(numbers.least(), 250);
/// assert_eq!(par::sum::<_, u32>(numbers), 499_500);
/// ```
#[doc(alias = "MinLen")]
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

//! Slices as runs of chunks from their end: the first chunk has the last items.
//!
//! Owns: [`Split`] for [`RChunks`], [`RChunksMut`], [`RChunksExact`] and
//! [`RChunksExactMut`], and the rest of the latter two. Does not own: chunks from the
//! beginning (`slices`, `exact`).
//!
//! The last chunk, at the beginning of the slice, may be short. So the first part of a
//! cut is the end of the slice, in whole chunks, and the second part is the rest before
//! it.
//!
//! Invariant: the items of exact `chunks` are whole chunks, so a cut is that of
//! [`RChunks`]. The rest precedes the last chunk, so it stays with the second part.

use std::mem;

use crate::par::Split;

/// Returns the chunks of `items` from the end, of `n` items each; the last one has the
/// rest, at the beginning of the slice. Each chunk has its items in the order of the
/// slice.
///
/// # Panics
/// If `n` is 0.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// // The thousands of a number, the least significant first.
/// let digits = [1, 2, 3, 4, 5, 6, 7];
/// let parts = par::map(par::rchunks(&digits, 3), |part| part.to_vec());
/// assert_eq!(parts, [vec![5, 6, 7], vec![2, 3, 4], vec![1]]);
/// ```
#[doc(alias = "par_rchunks")]
#[track_caller]
pub fn rchunks<T: Sync>(items: &[T], n: usize) -> RChunks<'_, T> {
    assert!(n != 0, "chunks of 0 items");
    RChunks { items, n }
}

/// Returns the mutable chunks of `items` from the end, of `n` items each; the last one
/// has the rest, at the beginning of the slice.
///
/// # Panics
/// If `n` is 0.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let mut items = [0; 7];
/// par::for_each((par::rchunks_mut(&mut items, 3), 1..4), |(part, n)| part.fill(n));
/// assert_eq!(items, [3, 2, 2, 2, 1, 1, 1]);
/// ```
#[doc(alias = "par_rchunks_mut")]
#[track_caller]
pub fn rchunks_mut<T: Send>(items: &mut [T], n: usize) -> RChunksMut<'_, T> {
    assert!(n != 0, "chunks of 0 items");
    RChunksMut { items, n }
}

/// Returns the chunks of `items` from the end, of exactly `n` items each. Up to `n - 1`
/// items at the beginning are left out: [`RChunksExact::remainder`] returns them.
///
/// # Panics
/// If `n` is 0.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let samples = [1, 2, 3, 4, 5, 6, 7];
/// let sums = par::map(par::rchunks_exact(&samples, 3), |part| part.iter().sum::<i32>());
/// assert_eq!(sums, [18, 9]);
/// ```
#[doc(alias = "par_rchunks_exact")]
#[track_caller]
pub fn rchunks_exact<T: Sync>(items: &[T], n: usize) -> RChunksExact<'_, T> {
    assert!(n != 0, "chunks of 0 items");
    let (rest, items) = items.split_at(items.len() % n);
    let chunks = RChunks { items, n };
    RChunksExact { chunks, rest }
}

/// Returns the mutable chunks of `items` from the end, of exactly `n` items each. Up to
/// `n - 1` items at the beginning are left out: [`RChunksExactMut::take_remainder`]
/// returns them.
///
/// # Panics
/// If `n` is 0.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let mut samples = [1, 2, 3, 4, 5, 6, 7];
/// par::for_each(par::rchunks_exact_mut(&mut samples, 3), |part| part.reverse());
/// assert_eq!(samples, [1, 4, 3, 2, 7, 6, 5]);
/// ```
#[doc(alias = "par_rchunks_exact_mut")]
#[track_caller]
pub fn rchunks_exact_mut<T: Send>(items: &mut [T], n: usize) -> RChunksExactMut<'_, T> {
    assert!(n != 0, "chunks of 0 items");
    let (rest, items) = items.split_at_mut(items.len() % n);
    let chunks = RChunksMut { items, n };
    RChunksExactMut { chunks, rest }
}

/// A slice as a run of chunks from its end; created by [`rchunks`].
///
/// # Examples
/// ```
/// use pirn::par::{self, RChunks};
///
/// let samples: Vec<u32> = (0..10).collect();
/// let blocks: RChunks<'_, u32> = par::rchunks(&samples, 4);
/// assert_eq!(par::map(blocks, |block| block[0]), [6, 2, 0]);
/// ```
#[derive(Debug)]
#[must_use = "chunks are cut when they are worked through"]
pub struct RChunks<'a, T> {
    items: &'a [T],
    n: usize,
}

/// A slice as a run of mutable chunks from its end; created by [`rchunks_mut`].
///
/// # Examples
/// ```
/// use pirn::par::{self, RChunksMut};
///
/// let mut image = vec![0; 4 * 3];
/// let rows: RChunksMut<'_, u8> = par::rchunks_mut(&mut image, 4);
/// par::for_each((rows, 0..3_u8), |(row, from_below)| row.fill(from_below));
/// assert_eq!(image, [2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0]);
/// ```
#[derive(Debug)]
#[must_use = "chunks are cut when they are worked through"]
pub struct RChunksMut<'a, T> {
    items: &'a mut [T],
    n: usize,
}

/// A slice as a run of chunks of the same length from its end; created by
/// [`rchunks_exact`].
///
/// # Examples
/// ```
/// use pirn::par::{self, RChunksExact, Split};
///
/// let samples: Vec<u32> = (0..10).collect();
/// let blocks: RChunksExact<'_, u32> = par::rchunks_exact(&samples, 4);
/// assert_eq!(blocks.len(), 2);
/// ```
#[derive(Debug)]
#[must_use = "chunks are cut when they are worked through"]
pub struct RChunksExact<'a, T> {
    chunks: RChunks<'a, T>,
    rest: &'a [T],
}

/// A slice as a run of mutable chunks of the same length from its end; created by
/// [`rchunks_exact_mut`].
///
/// # Examples
/// ```
/// use pirn::par::{self, RChunksExactMut};
///
/// let mut pixels = [0; 2 + 4 * 3];
/// let quads: RChunksExactMut<'_, u8> = par::rchunks_exact_mut(&mut pixels, 4);
/// par::for_each(quads, |quad| quad[3] = 255);
/// assert_eq!(pixels[..7], [0, 0, 0, 0, 0, 255, 0]);
/// ```
#[derive(Debug)]
#[must_use = "chunks are cut when they are worked through"]
pub struct RChunksExactMut<'a, T> {
    chunks: RChunksMut<'a, T>,
    rest: &'a mut [T],
}

impl<'a, T> RChunksExact<'a, T> {
    /// Returns the items before the last chunk, fewer than a chunk has. After a
    /// [cut](Split::split_at) they belong to the second part.
    ///
    /// # Examples
    /// ```
    /// use pirn::par;
    ///
    /// let pairs = par::rchunks_exact(&[1, 2, 3, 4, 5], 2);
    /// let rest = pairs.remainder();
    /// assert_eq!(par::map(pairs, |pair| pair[0] * pair[1]), [20, 6]);
    /// assert_eq!(rest, [1]);
    /// ```
    #[must_use]
    pub fn remainder(&self) -> &'a [T] {
        self.rest
    }
}

impl<'a, T> RChunksExactMut<'a, T> {
    /// Takes the items before the last chunk, fewer than a chunk has: the caller's loop
    /// consumes the chunks. Returns an empty slice if they have been taken. After a
    /// [cut](Split::split_at) they belong to the second part.
    ///
    /// # Examples
    /// ```
    /// use pirn::par;
    ///
    /// let mut numbers = [1, 2, 3, 4, 5];
    /// let mut pairs = par::rchunks_exact_mut(&mut numbers, 2);
    /// let rest = pairs.take_remainder();
    /// par::for_each(pairs, |pair| pair.swap(0, 1));
    /// rest.fill(0);
    /// assert_eq!(numbers, [0, 3, 2, 5, 4]);
    /// ```
    #[doc(alias = "into_remainder")]
    #[must_use]
    pub fn take_remainder(&mut self) -> &'a mut [T] {
        mem::take(&mut self.rest)
    }
}

impl<T> Clone for RChunks<'_, T> {
    fn clone(&self) -> Self {
        RChunks { ..*self }
    }
}

impl<'a, T: Sync> Split for RChunks<'a, T> {
    type Item = &'a [T];

    fn len(&self) -> usize {
        self.items.len().div_ceil(self.n)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        assert!(
            index <= Split::len(&self),
            "{index} is outside of the chunks"
        );
        let RChunks { items, n } = self;
        let (before, last) = items.split_at(start(items.len(), index, n));
        (RChunks { items: last, n }, RChunks { items: before, n })
    }

    fn each(self, f: impl FnMut(&'a [T])) {
        self.items().for_each(f);
    }

    fn items(self) -> impl Iterator<Item = &'a [T]> {
        self.items.rchunks(self.n)
    }
}

impl<'a, T: Send> Split for RChunksMut<'a, T> {
    type Item = &'a mut [T];

    fn len(&self) -> usize {
        self.items.len().div_ceil(self.n)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        assert!(
            index <= Split::len(&self),
            "{index} is outside of the chunks"
        );
        let RChunksMut { items, n } = self;
        let (before, last) = items.split_at_mut(start(items.len(), index, n));
        (
            RChunksMut { items: last, n },
            RChunksMut { items: before, n },
        )
    }

    fn each(self, f: impl FnMut(&'a mut [T])) {
        self.items().for_each(f);
    }

    fn items(self) -> impl Iterator<Item = &'a mut [T]> {
        self.items.rchunks_mut(self.n)
    }
}

impl<T> Clone for RChunksExact<'_, T> {
    fn clone(&self) -> Self {
        RChunksExact {
            chunks: self.chunks.clone(),
            ..*self
        }
    }
}

impl<'a, T: Sync> Split for RChunksExact<'a, T> {
    type Item = &'a [T];

    fn len(&self) -> usize {
        Split::len(&self.chunks)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = Split::split_at(self.chunks, index);
        let left = RChunksExact {
            chunks: left,
            rest: &[],
        };
        let right = RChunksExact {
            chunks: right,
            rest: self.rest,
        };
        (left, right)
    }

    fn each(self, f: impl FnMut(&'a [T])) {
        self.items().for_each(f);
    }

    fn items(self) -> impl Iterator<Item = &'a [T]> {
        let RChunks { items, n } = self.chunks;
        items.rchunks_exact(n)
    }
}

impl<'a, T: Send> Split for RChunksExactMut<'a, T> {
    type Item = &'a mut [T];

    fn len(&self) -> usize {
        Split::len(&self.chunks)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = Split::split_at(self.chunks, index);
        let left = RChunksExactMut {
            chunks: left,
            rest: &mut [],
        };
        let right = RChunksExactMut {
            chunks: right,
            rest: self.rest,
        };
        (left, right)
    }

    fn each(self, f: impl FnMut(&'a mut [T])) {
        self.items().for_each(f);
    }

    fn items(self) -> impl Iterator<Item = &'a mut [T]> {
        let RChunksMut { items, n } = self.chunks;
        items.rchunks_exact_mut(n)
    }
}

/// Returns where the first `chunks` chunks from the end of `len` items start. The last
/// chunk of all may be short.
fn start(len: usize, chunks: usize, n: usize) -> usize {
    len.saturating_sub(chunks.saturating_mul(n))
}

//! Slices as runs of whole chunks; the rest at the end, which fills no chunk, is no item.
//!
//! Owns: [`Split`] for [`ChunksExact`] and [`ChunksExactMut`], and the rest. Does not
//! own: chunks of which the last one may be shorter (`slices`), or chunks from the end
//! (`reverse`).
//!
//! Invariant: the items of `chunks` are whole chunks, so a cut is that of [`Chunks`]. The
//! rest follows the last chunk, so it stays with the second part.

use std::mem;

use super::slices::{Chunks, ChunksMut};
use crate::par::Split;

/// Returns the chunks of `items`, of exactly `n` items each. Up to `n - 1` items at the
/// end are left out: [`ChunksExact::remainder`] returns them. The compiler knows that all
/// chunks have the same length, and often makes faster code than for those of
/// [`chunks`](crate::par::chunks).
///
/// # Panics
/// If `n` is 0.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let samples = [1, 2, 3, 4, 5, 6, 7];
/// let sums = par::map(par::chunks_exact(&samples, 3), |part| part.iter().sum::<i32>());
/// assert_eq!(sums, [6, 15]);
/// ```
#[doc(alias = "par_chunks_exact")]
#[track_caller]
pub fn chunks_exact<T: Sync>(items: &[T], n: usize) -> ChunksExact<'_, T> {
    assert!(n != 0, "chunks of 0 items");
    let (items, rest) = items.split_at(items.len() - items.len() % n);
    let chunks = Chunks { items, n };
    ChunksExact { chunks, rest }
}

/// Returns the mutable chunks of `items`, of exactly `n` items each. Up to `n - 1` items
/// at the end are left out: [`ChunksExactMut::take_remainder`] returns them.
///
/// # Panics
/// If `n` is 0.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let mut samples = [1, 2, 3, 4, 5, 6, 7];
/// par::for_each(par::chunks_exact_mut(&mut samples, 3), |part| part.reverse());
/// assert_eq!(samples, [3, 2, 1, 6, 5, 4, 7]);
/// ```
#[doc(alias = "par_chunks_exact_mut")]
#[track_caller]
pub fn chunks_exact_mut<T: Send>(items: &mut [T], n: usize) -> ChunksExactMut<'_, T> {
    assert!(n != 0, "chunks of 0 items");
    let (items, rest) = items.split_at_mut(items.len() - items.len() % n);
    let chunks = ChunksMut { items, n };
    ChunksExactMut { chunks, rest }
}

/// A slice as a run of chunks of the same length; created by [`chunks_exact`].
///
/// # Examples
/// ```
/// use pirn::par::{self, ChunksExact, Split};
///
/// let samples: Vec<u32> = (0..10).collect();
/// let blocks: ChunksExact<'_, u32> = par::chunks_exact(&samples, 4);
/// assert_eq!(blocks.len(), 2);
/// ```
#[derive(Debug)]
#[must_use = "chunks are cut when they are worked through"]
pub struct ChunksExact<'a, T> {
    chunks: Chunks<'a, T>,
    rest: &'a [T],
}

/// A slice as a run of mutable chunks of the same length; created by
/// [`chunks_exact_mut`].
///
/// # Examples
/// ```
/// use pirn::par::{self, ChunksExactMut};
///
/// let mut pixels = [0; 4 * 3];
/// let quads: ChunksExactMut<'_, u8> = par::chunks_exact_mut(&mut pixels, 4);
/// par::for_each(quads, |quad| quad[3] = 255);
/// assert_eq!(pixels[..5], [0, 0, 0, 255, 0]);
/// ```
#[derive(Debug)]
#[must_use = "chunks are cut when they are worked through"]
pub struct ChunksExactMut<'a, T> {
    chunks: ChunksMut<'a, T>,
    rest: &'a mut [T],
}

impl<'a, T> ChunksExact<'a, T> {
    /// Returns the items behind the last chunk, fewer than a chunk has. After a
    /// [cut](Split::split_at) they belong to the second part.
    ///
    /// # Examples
    /// ```
    /// use pirn::par;
    ///
    /// let pairs = par::chunks_exact(&[1, 2, 3, 4, 5], 2);
    /// let rest = pairs.remainder();
    /// assert_eq!(par::map(pairs, |pair| pair[0] * pair[1]), [2, 12]);
    /// assert_eq!(rest, [5]);
    /// ```
    #[must_use]
    pub fn remainder(&self) -> &'a [T] {
        self.rest
    }
}

impl<'a, T> ChunksExactMut<'a, T> {
    /// Takes the items behind the last chunk, fewer than a chunk has: the caller's loop
    /// consumes the chunks. Returns an empty slice if they have been taken. After a
    /// [cut](Split::split_at) they belong to the second part.
    ///
    /// # Examples
    /// ```
    /// use pirn::par;
    ///
    /// let mut numbers = [1, 2, 3, 4, 5];
    /// let mut pairs = par::chunks_exact_mut(&mut numbers, 2);
    /// let rest = pairs.take_remainder();
    /// par::for_each(pairs, |pair| pair.swap(0, 1));
    /// rest.fill(0);
    /// assert_eq!(numbers, [2, 1, 4, 3, 0]);
    /// ```
    #[doc(alias = "into_remainder")]
    #[must_use]
    pub fn take_remainder(&mut self) -> &'a mut [T] {
        mem::take(&mut self.rest)
    }
}

impl<T> Clone for ChunksExact<'_, T> {
    fn clone(&self) -> Self {
        ChunksExact {
            chunks: self.chunks.clone(),
            ..*self
        }
    }
}

impl<'a, T: Sync> Split for ChunksExact<'a, T> {
    type Item = &'a [T];

    fn len(&self) -> usize {
        Split::len(&self.chunks)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = Split::split_at(self.chunks, index);
        let left = ChunksExact {
            chunks: left,
            rest: &[],
        };
        let right = ChunksExact {
            chunks: right,
            rest: self.rest,
        };
        (left, right)
    }

    fn each(self, f: impl FnMut(&'a [T])) {
        self.items().for_each(f);
    }

    fn items(self) -> impl Iterator<Item = &'a [T]> {
        let Chunks { items, n } = self.chunks;
        items.chunks_exact(n)
    }
}

impl<'a, T: Send> Split for ChunksExactMut<'a, T> {
    type Item = &'a mut [T];

    fn len(&self) -> usize {
        Split::len(&self.chunks)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = Split::split_at(self.chunks, index);
        let left = ChunksExactMut {
            chunks: left,
            rest: &mut [],
        };
        let right = ChunksExactMut {
            chunks: right,
            rest: self.rest,
        };
        (left, right)
    }

    fn each(self, f: impl FnMut(&'a mut [T])) {
        self.items().for_each(f);
    }

    fn items(self) -> impl Iterator<Item = &'a mut [T]> {
        let ChunksMut { items, n } = self.chunks;
        items.chunks_exact_mut(n)
    }
}

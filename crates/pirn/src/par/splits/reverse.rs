//! Slices as runs of chunks from their end: the first chunk has the last items.
//!
//! Owns: [`Split`] for [`RChunks`] and [`RChunksMut`]. Does not own: chunks from the
//! beginning (`slices`, `exact`).
//!
//! The last chunk, at the beginning of the slice, may be short. So the first part of a
//! cut is the end of the slice, in whole chunks, and the second part is the rest before
//! it.

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

/// Returns where the first `chunks` chunks from the end of `len` items start. The last
/// chunk of all may be short.
fn start(len: usize, chunks: usize, n: usize) -> usize {
    len.saturating_sub(chunks.saturating_mul(n))
}

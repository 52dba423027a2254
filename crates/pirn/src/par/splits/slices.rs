//! Slices as runs: item by item, or in chunks.
//!
//! Owns: [`Split`] for slices, [`Chunks`] and [`ChunksMut`]. They use `std`'s functions
//! for cutting and `std`'s iterators. Does not own: chunks of the same length (`exact`),
//! or from the end (`reverse`).

use crate::par::Split;

/// Returns the chunks of `items`, of `n` items each; the last one has the rest. For work
/// on several neighbors at once.
///
/// # Panics
/// If `n` is 0.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let rows = [1, 2, 3, 4, 5, 6, 7];
/// let sums = par::map(par::chunks(&rows, 3), |row| row.iter().sum::<i32>());
/// assert_eq!(sums, [6, 15, 7]);
/// ```
#[doc(alias = "par_chunks")]
#[track_caller]
pub fn chunks<T: Sync>(items: &[T], n: usize) -> Chunks<'_, T> {
    assert!(n != 0, "chunks of 0 items");
    Chunks { items, n }
}

/// Returns the mutable chunks of `items`, of `n` items each; the last one has the rest.
///
/// # Panics
/// If `n` is 0.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let mut image = vec![0; 6 * 4];
/// par::for_each((par::chunks_mut(&mut image, 6), 0..4), |(row, y)| row.fill(y));
/// assert_eq!(image[6..12], [1; 6]);
/// ```
#[doc(alias = "par_chunks_mut")]
#[track_caller]
pub fn chunks_mut<T: Send>(items: &mut [T], n: usize) -> ChunksMut<'_, T> {
    assert!(n != 0, "chunks of 0 items");
    ChunksMut { items, n }
}

/// A slice as a run of chunks; created by [`chunks`].
///
/// # Examples
/// ```
/// use pirn::par::{self, Chunks};
///
/// let samples: Vec<u32> = (0..10).collect();
/// let blocks: Chunks<'_, u32> = par::chunks(&samples, 4);
/// assert_eq!(par::map(blocks, |block| block.len()), [4, 4, 2]);
/// ```
#[derive(Debug)]
#[must_use = "chunks are cut when they are worked through"]
pub struct Chunks<'a, T> {
    pub(super) items: &'a [T],
    pub(super) n: usize,
}

/// A slice as a run of mutable chunks; created by [`chunks_mut`].
///
/// # Examples
/// ```
/// use pirn::par::{self, ChunksMut};
///
/// let mut image = vec![0; 4 * 3];
/// let rows: ChunksMut<'_, u8> = par::chunks_mut(&mut image, 4);
/// par::for_each(rows, |row| row.fill(7));
/// assert_eq!(image, [7; 12]);
/// ```
#[derive(Debug)]
#[must_use = "chunks are cut when they are worked through"]
pub struct ChunksMut<'a, T> {
    pub(super) items: &'a mut [T],
    pub(super) n: usize,
}

impl<T> Clone for Chunks<'_, T> {
    fn clone(&self) -> Self {
        Chunks { ..*self }
    }
}

impl<'a, T: Sync> Split for &'a [T] {
    type Item = &'a T;

    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        <[T]>::split_at(self, index)
    }

    fn each(self, f: impl FnMut(&'a T)) {
        self.iter().for_each(f);
    }

    fn items(self) -> impl Iterator<Item = &'a T> {
        self.iter()
    }
}

impl<'a, T: Send> Split for &'a mut [T] {
    type Item = &'a mut T;

    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        self.split_at_mut(index)
    }

    fn each(self, f: impl FnMut(&'a mut T)) {
        self.iter_mut().for_each(f);
    }

    fn items(self) -> impl Iterator<Item = &'a mut T> {
        self.iter_mut()
    }
}

impl<'a, T: Sync> Split for Chunks<'a, T> {
    type Item = &'a [T];

    fn len(&self) -> usize {
        self.items.len().div_ceil(self.n)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        assert!(
            index <= Split::len(&self),
            "{index} is outside of the chunks"
        );
        let Chunks { items, n } = self;
        // The last chunk may be short.
        let (left, right) = items.split_at(index.saturating_mul(n).min(items.len()));
        (Chunks { items: left, n }, Chunks { items: right, n })
    }

    fn each(self, f: impl FnMut(&'a [T])) {
        self.items().for_each(f);
    }

    fn items(self) -> impl Iterator<Item = &'a [T]> {
        self.items.chunks(self.n)
    }
}

impl<'a, T: Send> Split for ChunksMut<'a, T> {
    type Item = &'a mut [T];

    fn len(&self) -> usize {
        self.items.len().div_ceil(self.n)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        assert!(
            index <= Split::len(&self),
            "{index} is outside of the chunks"
        );
        let ChunksMut { items, n } = self;
        let middle = index.saturating_mul(n).min(items.len());
        let (left, right) = items.split_at_mut(middle);
        (ChunksMut { items: left, n }, ChunksMut { items: right, n })
    }

    fn each(self, f: impl FnMut(&'a mut [T])) {
        self.items().for_each(f);
    }

    fn items(self) -> impl Iterator<Item = &'a mut [T]> {
        self.items.chunks_mut(self.n)
    }
}

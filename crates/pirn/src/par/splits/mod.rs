//! The input of a loop: the trait, and its implementations for slices, vectors, ranges
//! and pairs.

#[expect(unsafe_code, reason = "hands out shares of a buffer")]
mod owned;
mod pairs;
mod ranges;
mod slices;
mod split;

pub use slices::{Chunks, ChunksMut, chunks, chunks_mut};
pub use split::{Grain, Split};

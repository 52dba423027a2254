//! The input of a loop: the trait, and its implementations for slices, vectors, ranges
//! and pairs.

mod exact;
#[expect(unsafe_code, reason = "hands out shares of a buffer")]
mod owned;
mod pairs;
mod ranges;
mod reverse;
mod slices;
mod split;

pub use exact::{ChunksExact, ChunksExactMut, chunks_exact, chunks_exact_mut};
pub use reverse::{
    RChunks, RChunksExact, RChunksExactMut, RChunksMut, rchunks, rchunks_exact,
    rchunks_exact_mut, rchunks_mut,
};
pub use slices::{Chunks, ChunksMut, chunks, chunks_mut};
pub use split::{Grain, Split};

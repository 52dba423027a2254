//! Deflate blocks and members: the work that fibers do.
//!
//! * [`Level`]: gzip's -1 … -9 in terms of the library's efforts.
//! * [`Packer`]: compresses one block after another, reusing its state.
//! * [`Inflater`]: inflates a stream piece by piece, or a whole member at once.
//! * [`Pool`]: keeps idle states and buffers between two blocks.
//!
//! The module only computes; it neither reads nor writes nor waits.

mod block;
mod inflater;
mod level;
mod packer;
#[expect(clippy::disallowed_methods, reason = "a lock never held across a wait")]
mod pool;

pub use block::{Block, DICTIONARY};
pub use inflater::{Inflater, Progress};
pub use level::Level;
pub use packer::{Closing, Packed, Packer};
pub use pool::Pool;

#[cfg(test)]
mod tests;

//! The formats before gzip's own, which gzip reads as well. Reading only.
//!
//! * [`Lzw`]: the `.Z` files of `compress`.
//! * [`Huffman`]: the `.z` files of `pack`.
//!
//! Both begin with two bytes of magic and have no checksum. Each type is a decoder that appends
//! a little data at each call, so the caller bounds the memory.
//!
//! The module knows nothing of deflate, of files, or of the pipelines.

mod huffman;
mod lzw;
mod step;

pub use huffman::Huffman;
pub use lzw::Lzw;
pub use step::{Step, Stop};

#[cfg(test)]
mod tests;

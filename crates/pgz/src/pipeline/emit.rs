//! The pieces that the decode stage makes of a file, and their receiver.

use crate::gzip::Trailer;

/// Where the pieces go. Whatever returns [`Gone`] ends the stage.
pub trait Emit {
    /// An empty buffer with room for a piece.
    fn buffer(&mut self) -> Vec<u8>;
    /// A piece of the current member's data.
    fn bytes(&mut self, piece: Vec<u8>) -> Result<(), Gone>;
    /// The current member ends; its trailer stands at `offset`.
    fn close(&mut self, trailer: Trailer, offset: u64) -> Result<(), Gone>;
    /// The current member ends; it has no trailer.
    fn end(&mut self) -> Result<(), Gone>;
    /// A whole member, still compressed.
    fn member(&mut self, member: Member) -> Result<(), Gone>;
}

/// The receiver of the pieces has closed.
#[derive(Debug)]
pub struct Gone;

/// A compressed member of known length, compressed and decompressed.
#[derive(Debug)]
pub struct Member {
    /// Deflate data and trailer.
    pub body: Vec<u8>,
    /// Where the body begins in the file.
    pub offset: u64,
    /// How long the data must be.
    pub plain: usize,
}

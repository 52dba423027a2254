//! The pieces into which the decode stage divides a file, and their receiver.

use crate::gzip::Trailer;

/// The receiver of the pieces. A method that returns [`Gone`] ends the stage: the receiver has
/// closed.
pub trait Emit {
    /// Returns an empty buffer with capacity for a piece.
    fn buffer(&mut self) -> Vec<u8>;
    /// Receives a piece of the current member's data.
    fn bytes(&mut self, piece: Vec<u8>) -> Result<(), Gone>;
    /// Ends the current member, with a trailer at `offset`.
    fn close(&mut self, trailer: Trailer, offset: u64) -> Result<(), Gone>;
    /// Ends the current member, which has no trailer.
    fn end(&mut self) -> Result<(), Gone>;
    /// Receives a whole member, still compressed.
    fn member(&mut self, member: Member) -> Result<(), Gone>;
}

/// The receiver of the pieces has closed.
#[derive(Debug)]
pub struct Gone;

/// A compressed member without its header. Its length is known, both compressed and decompressed.
#[derive(Debug)]
pub struct Member {
    /// Deflate data and trailer.
    pub body: Vec<u8>,
    /// Offset of the body in the file.
    pub offset: u64,
    /// Length of the data after decompression; another length is damage.
    pub plain: usize,
}

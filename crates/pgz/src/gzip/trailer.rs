//! The eight bytes that end a member: the data's CRC-32 and its length modulo 2^32.

use std::io::{self, BufRead};

use super::Counted;

/// Checksum and length of a member's uncompressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trailer {
    /// CRC-32 of the uncompressed data.
    pub crc: u32,
    /// Length of the uncompressed data, modulo 2^32.
    pub len: u32,
}

impl Trailer {
    /// Bytes of a trailer.
    pub const LEN: usize = 8;

    /// Appends the trailer.
    pub fn encode(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.crc.to_le_bytes());
        out.extend_from_slice(&self.len.to_le_bytes());
    }

    /// Reads a trailer from its eight bytes.
    pub fn decode(bytes: [u8; Self::LEN]) -> Trailer {
        let [a, b, c, d, e, f, g, h] = bytes;
        Trailer {
            crc: u32::from_le_bytes([a, b, c, d]),
            len: u32::from_le_bytes([e, f, g, h]),
        }
    }

    /// Reads a trailer; `None` if the file ends first.
    ///
    /// # Errors
    ///
    /// The error of the reader.
    pub fn read<R: BufRead>(from: &mut Counted<R>) -> io::Result<Option<Trailer>> {
        let mut bytes = [0; Self::LEN];
        for byte in &mut bytes {
            match from.byte()? {
                Some(b) => *byte = b,
                None => return Ok(None),
            }
        }
        Ok(Some(Self::decode(bytes)))
    }
}

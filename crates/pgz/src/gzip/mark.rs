//! The extra field of `-i` files, which records the length of each member.
//!
//! A `-i` file is a series of ordinary gzip members, one for each block, and a last,
//! empty one. Every member has one subfield in its header's FEXTRA field; together they are the
//! file's index. `docs/pgz-format.md` is the specification. A change of these bytes needs a new
//! kind, never a new meaning.
//!
//! ```text
//! subfield   'P' 'Z'  len u16
//! block      kind=1  0 0 0   member u32   plain u32              len = 12
//! end        kind=2  0 0 0   blocks u64   plain u64              len = 20
//! ```
//!
//! `member` counts the whole member, header to trailer; all numbers little-endian.
//! A subfield of another kind or length, or with reserved bits set, is ignored. A member without a
//! mark is read as by any gzip reader.

/// The record of a `-i` member about itself or, in the last one, about the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A member that holds one block.
    Block {
        /// Length of the member in the file, header and trailer included.
        member: u32,
        /// Length of the data in it.
        plain: u32,
    },
    /// The empty member that ends the series.
    End {
        /// Number of block members in the series.
        blocks: u64,
        /// The sum of their `plain`.
        plain: u64,
    },
}

impl Mark {
    /// The subfield's two identifying bytes.
    const ID: [u8; 2] = *b"PZ";

    /// Encodes the subfield, which is the whole extra field.
    pub fn encode(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 + Self::END_LEN);
        out.extend_from_slice(&Self::ID);
        match self {
            Mark::Block { member, plain } => {
                out.extend_from_slice(&(Self::BLOCK_LEN as u16).to_le_bytes());
                out.extend_from_slice(&[1, 0, 0, 0]);
                out.extend_from_slice(&member.to_le_bytes());
                out.extend_from_slice(&plain.to_le_bytes());
            }
            Mark::End { blocks, plain } => {
                out.extend_from_slice(&(Self::END_LEN as u16).to_le_bytes());
                out.extend_from_slice(&[2, 0, 0, 0]);
                out.extend_from_slice(&blocks.to_le_bytes());
                out.extend_from_slice(&plain.to_le_bytes());
            }
        }
        out
    }

    /// Finds the mark among the subfields of an extra field.
    pub fn find(extra: &[u8]) -> Option<Mark> {
        let mut rest = extra;
        while let [a, b, lo, hi, tail @ ..] = rest {
            let len = usize::from(u16::from_le_bytes([*lo, *hi]));
            let body = tail.get(..len)?;
            if [*a, *b] == Self::ID
                && let Some(mark) = Self::decode(body)
            {
                return Some(mark);
            }
            rest = &tail[len..];
        }
        None
    }

    fn decode(body: &[u8]) -> Option<Mark> {
        let (kind, numbers) = body.split_first_chunk::<4>()?;
        match (kind, numbers.len() + 4) {
            ([1, 0, 0, 0], Self::BLOCK_LEN) => {
                let (member, plain) = numbers.split_first_chunk::<4>()?;
                Some(Mark::Block {
                    member: u32::from_le_bytes(*member),
                    plain: u32::from_le_bytes(plain.try_into().ok()?),
                })
            }
            ([2, 0, 0, 0], Self::END_LEN) => {
                let (blocks, plain) = numbers.split_first_chunk::<8>()?;
                Some(Mark::End {
                    blocks: u64::from_le_bytes(*blocks),
                    plain: u64::from_le_bytes(plain.try_into().ok()?),
                })
            }
            _ => None,
        }
    }

    const BLOCK_LEN: usize = 12;
    const END_LEN: usize = 20;
}

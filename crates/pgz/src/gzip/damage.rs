//! Damage of compressed files, and its place.
//!
//! A [`Damage`] is a flaw with the offset in the *compressed* file at which it was detected. Its
//! text does not name the file; the report does.

use std::fmt;

/// A flaw and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset in the compressed file, counted from 0.
    pub offset: u64,
    /// The flaw at that place.
    pub flaw: Flaw,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.flaw, self.offset)
    }
}

/// Kinds of damage of a compressed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The first bytes are not those of a gzip file.
    NotGzip,
    /// The file ends inside a member, or `-i` blocks end without their end record.
    Truncated,
    /// Data other than zeros or another member follows the last member.
    TrailingGarbage,
    /// The header names a compression method other than deflate.
    Method(u8),
    /// The header has flag bits set that no version of the format defines.
    Flags(u8),
    /// The header's own checksum does not match.
    HeaderChecksum,
    /// The deflate data cannot be decoded; the text is the decoder's.
    Deflate(String),
    /// Codes that `compress` does not write; the number is their width in bits.
    CodeWidth(u32),
    /// A code that is not defined yet.
    UnknownCode(u16),
    /// The codes of a packed file form no complete tree.
    CodeTree,
    /// The data's checksum differs from the one stored.
    Checksum,
    /// The data's length differs from the one stored.
    Length,
    /// The block records of a `-i` file contradict its contents.
    Index(&'static str),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::NotGzip => f.write_str("not in gzip format"),
            Flaw::Truncated => f.write_str("unexpected end of file"),
            Flaw::TrailingGarbage => f.write_str("trailing garbage"),
            Flaw::Method(m) => write!(f, "unknown compression method {m}"),
            Flaw::Flags(flags) => write!(f, "unknown header flags {flags:#04x}"),
            Flaw::HeaderChecksum => f.write_str("header checksum mismatch"),
            Flaw::Deflate(text) => write!(f, "invalid compressed data ({text})"),
            Flaw::CodeWidth(bits) => {
                write!(f, "codes of up to {bits} bits, only 9 to 16 are supported")
            }
            Flaw::UnknownCode(code) => {
                write!(f, "invalid compressed data (unknown code {code})")
            }
            Flaw::CodeTree => f.write_str("invalid compressed data (code tree)"),
            Flaw::Checksum => f.write_str("invalid compressed data (checksum mismatch)"),
            Flaw::Length => f.write_str("invalid compressed data (length mismatch)"),
            Flaw::Index(what) => write!(f, "invalid block record ({what})"),
        }
    }
}

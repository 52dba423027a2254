//! The outcome of a pipeline: a tally, or the failure that stopped it.

use std::{fmt, io};

use super::decode::Method;
use crate::gzip::{Damage, Header};

/// The reason why a pipeline stopped. The text does not name the file: the caller adds the name.
/// `Write` concerns the output, `Read` and `Damage` the input.
#[derive(Debug)]
pub enum Failure {
    /// The input could not be read.
    Read(io::Error),
    /// The output could not be written.
    Write(io::Error),
    /// The input is not an intact gzip file.
    Damage(Damage),
    /// A part of the pipeline panicked; its message is already on standard error.
    Panicked,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Read(error) | Failure::Write(error) => write!(f, "{}", plain(error)),
            Failure::Damage(damage) => damage.fmt(f),
            Failure::Panicked => f.write_str("internal error"),
        }
    }
}

/// Returns an I/O error's text without the number that std appends.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

/// Totals of a pipeline.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Bytes of uncompressed data.
    pub plain: u64,
    /// Bytes of compressed data, headers and trailers included.
    pub packed: u64,
    /// Number of those in headers and trailers.
    pub framing: u64,
    /// CRC-32 of the uncompressed data.
    pub crc: u32,
    /// Decompression: the first member's header.
    pub header: Option<Header>,
    /// Decompression: encoding of the last member's data.
    pub method: Method,
    /// Decompression: zeros follow the last member.
    pub padded: bool,
}

//! The table that `-l` prints.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::options::Voice;
use super::report::ratio;
use super::streams::print;
use crate::pipeline::{Method, Tally};

/// Rows so far.
#[derive(Debug)]
pub(super) struct Listing {
    voice: Voice,
    rows: u64,
    packed: u64,
    plain: u64,
    framing: u64,
}

impl Listing {
    pub(super) fn new(voice: Voice) -> Listing {
        Listing {
            voice,
            rows: 0,
            packed: 0,
            plain: 0,
            framing: 0,
        }
    }

    /// Prints a row.
    pub(super) fn row(
        &mut self,
        tally: &Tally,
        time: Option<SystemTime>,
        name: &Path,
    ) -> io::Result<()> {
        let mut line = String::new();
        if self.rows == 0 && self.voice != Voice::Quiet {
            line.push_str(self.verbose("method  crc     date  time  "));
            line.push_str("         compressed        uncompressed  ratio ");
            line.push_str("uncompressed_name\n");
        }
        if self.voice == Voice::Verbose {
            let when = time.and_then(|time| Timestamp::try_from(time).ok());
            let when = when.map_or("            ".into(), |when| {
                when.to_zoned(TimeZone::system())
                    .strftime("%b %e %H:%M")
                    .to_string()
            });
            let (method, crc) = match tally.method {
                Method::Deflate => ("defla", tally.crc),
                Method::Lzw => ("compr", UNKNOWN),
                Method::Huffman => ("pack ", UNKNOWN),
                Method::Stored => ("store", UNKNOWN),
            };
            line.push_str(&format!("{method} {crc:08x} {when} "));
        }
        let (packed, plain) = (tally.packed, tally.plain);
        let ratio = ratio(plain, packed.saturating_sub(tally.framing));
        line.push_str(&format!("{packed:19} {plain:19} {ratio} "));
        self.rows += 1;
        self.packed += packed;
        self.plain += plain;
        self.framing += tally.framing;
        // As gzip, also a name that is no text.
        print(&[line.as_bytes(), name.as_os_str().as_bytes(), b"\n"].concat())
    }

    /// Prints the totals, if there were several rows or operands, and data in them.
    pub(super) fn totals(&mut self, operands: usize) -> io::Result<()> {
        let several = self.rows > 1 || operands > 1;
        if !several || self.plain == 0 || self.voice == Voice::Quiet {
            return Ok(());
        }
        let ratio = ratio(self.plain, self.packed.saturating_sub(self.framing));
        let indent = self.verbose("                            ");
        let (packed, plain) = (self.packed, self.plain);
        let line = format!("{indent}{packed:19} {plain:19} {ratio} (totals)\n");
        print(line.as_bytes())
    }

    fn verbose(&self, text: &'static str) -> &'static str {
        match self.voice {
            Voice::Verbose => text,
            _ => "",
        }
    }
}

/// Printed in place of a checksum where the format has none.
const UNKNOWN: u32 = u32::MAX;

//! The table that `-l` prints.

use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::options::Voice;
use super::report::ratio;
use crate::pipeline::Tally;

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

    /// Prints a row; `time` is used where the header has none.
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
            let stored = tally.header.as_ref().map_or(0, |header| header.mtime);
            let when = match stored {
                0 => time.and_then(|time| Timestamp::try_from(time).ok()),
                seconds => Timestamp::from_second(seconds.into()).ok(),
            };
            let when = when.map_or("            ".into(), |when| {
                when.to_zoned(TimeZone::system())
                    .strftime("%b %e %H:%M")
                    .to_string()
            });
            line.push_str(&format!("defla {:08x} {when} ", tally.crc));
        }
        let (packed, plain) = (tally.packed, tally.plain);
        let ratio = ratio(plain, packed.saturating_sub(tally.framing));
        line.push_str(&format!(
            "{packed:19} {plain:19} {ratio} {}\n",
            name.display()
        ));
        self.rows += 1;
        self.packed += packed;
        self.plain += plain;
        self.framing += tally.framing;
        io::stdout().write_all(line.as_bytes())
    }

    /// Prints the totals, if there were several rows.
    pub(super) fn totals(&mut self) -> io::Result<()> {
        if self.rows < 2 || self.voice == Voice::Quiet {
            return Ok(());
        }
        let ratio = ratio(self.plain, self.packed.saturating_sub(self.framing));
        let indent = self.verbose("                            ");
        let (packed, plain) = (self.packed, self.plain);
        let line = format!("{indent}{packed:19} {plain:19} {ratio} (totals)\n");
        io::stdout().write_all(line.as_bytes())
    }

    fn verbose(&self, text: &'static str) -> &'static str {
        match self.voice {
            Voice::Verbose => text,
            _ => "",
        }
    }
}

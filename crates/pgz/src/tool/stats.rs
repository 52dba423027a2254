//! The output of `--stats`.

use std::io::{self, Write};
use std::time::Instant;

use pirn::diag::Metrics;

use crate::pipeline::Tally;

/// Sums over all files.
#[derive(Debug)]
pub(super) struct Stats {
    started: Instant,
    files: u64,
    plain: u64,
    packed: u64,
}

impl Stats {
    pub(super) fn start() -> Stats {
        Stats {
            started: pirn::time::now(),
            files: 0,
            plain: 0,
            packed: 0,
        }
    }

    pub(super) fn count(&mut self, tally: &Tally) {
        self.files += 1;
        self.plain += tally.plain;
        self.packed += tally.packed;
    }

    pub(super) fn print(&self, called: &str, metrics: &Metrics) {
        let seconds = (pirn::time::now() - self.started).as_secs_f64();
        let speed = self.plain as f64 / seconds / 1e6;
        let Stats {
            files,
            plain,
            packed,
            ..
        } = self;
        let _ = write!(
            io::stderr(),
            "{called}: {files} files, {plain} bytes uncompressed, {packed} compressed, \
             {seconds:.3} s, {speed:.1} MB/s\n{metrics}"
        );
    }
}

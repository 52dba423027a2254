//! Compresses one file, or standard input.

use std::fs::Metadata;
use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use super::Tool;
use super::options::Voice;
use super::progress::Progress;
use super::report::ratio;
use super::streams::stdin;
use crate::files::{Input, Output, names};
use crate::gzip::Header;
use crate::pipeline::{Tally, plain};

impl Tool {
    pub(super) fn compress_file(&mut self, input: &Input) {
        let shown = input.path.display().to_string();
        let to_stdout = self.options.to_stdout;
        if !to_stdout {
            if let Some(reason) = input.reason_to_leave(self.options.force) {
                self.report.warn(&shown, reason);
                return;
            }
            if !self.options.force
                && let Some(suffix) = names::suffix_of(&input.path, &self.options.suffix)
            {
                if !self.options.recursive || self.options.voice == Voice::Verbose {
                    let text =
                        format!("already has {} suffix -- unchanged", suffix.display());
                    self.report.note(&shown, text);
                }
                return;
            }
        }
        if to_stdout {
            self.compress_to_stdout(input, &shown);
        } else {
            self.compress_in_place(input, &shown);
        }
    }

    fn compress_in_place(&mut self, input: &Input, shown: &str) {
        let target = names::compressed(&input.path, &self.options.suffix);
        let Some(replace) = self.may_write(&target) else {
            return;
        };
        let named = target.display().to_string();
        let header = self.header(input, shown);
        let mut output = match Output::create(&target, self.options.synchronous) {
            Ok(output) => output,
            Err(error) => return self.report.error(named, plain(&error)),
        };
        let Some(tally) = self.compress(input, &header, shown, &mut output, &named)
        else {
            return;
        };
        if !self.is_whole(input, tally.plain, shown) {
            return;
        }
        let done = output.commit(&input.facts, None, replace);
        self.conclude(input, &target, &saved(&tally), done);
    }

    fn compress_to_stdout(&mut self, input: &Input, shown: &str) {
        if !self.may_write_terminal() {
            return;
        }
        let mut output = match self.results() {
            Ok(output) => output,
            Err(error) => return self.report.error("stdout", plain(&error)),
        };
        let header = self.header(input, shown);
        if let Some(tally) = self.compress(input, &header, shown, &mut output, "stdout") {
            self.outcome(&input.path, &saved(&tally), "stdout");
        }
    }

    fn compress(
        &mut self,
        input: &Input,
        header: &Header,
        shown: &str,
        output: &mut (dyn Write + Send),
        named: &str,
    ) -> Option<Tally> {
        let length = input.facts.is_file().then_some(input.facts.len());
        let mut reader =
            Progress::over(&input.file, shown, length, self.progress_visible());
        let done = self.engine.compress(header, &mut reader, output);
        drop(reader);
        match done {
            Ok(tally) => {
                self.stats.count(&tally);
                Some(tally)
            }
            Err(failure) => {
                self.failed(shown, named, &failure);
                None
            }
        }
    }

    pub(super) fn compress_stdin(&mut self) {
        if !self.may_write_terminal() {
            return;
        }
        let (input, mut output) = match (stdin(), self.results()) {
            (Ok(input), Ok(output)) => (input, output),
            (Err(error), _) => return self.report.error("stdin", plain(&error)),
            (_, Err(error)) => return self.report.error("stdout", plain(&error)),
        };
        let facts = input.metadata().ok().filter(Metadata::is_file);
        let header = Header {
            mtime: facts
                .as_ref()
                .map_or(0, |facts| self.stored_time(facts, "stdin")),
            ..Header::default()
        };
        let length = facts.map(|facts| facts.len());
        let mut reader = Progress::over(&input, "stdin", length, self.progress_visible());
        let done = self.engine.compress(&header, &mut reader, &mut output);
        drop(reader);
        match done {
            Ok(tally) => {
                self.stats.count(&tally);
                self.report.done(saved(&tally));
            }
            Err(failure) => self.failed("stdin", "stdout", &failure),
        }
    }

    fn header(&mut self, input: &Input, shown: &str) -> Header {
        let name = input.path.file_name().filter(|_| self.options.name);
        Header {
            mtime: self.stored_time(&input.facts, shown),
            name: name.map(|name| name.as_bytes().to_vec()),
            ..Header::default()
        }
    }

    /// Returns the time for a header: that of a regular file. 0 means none, so a time of 0 cannot
    /// be stored, nor one outside of 32 bits.
    fn stored_time(&mut self, facts: &Metadata, shown: &str) -> u32 {
        if !self.options.time || !facts.is_file() {
            return 0;
        }
        let time = u32::try_from(facts.mtime()).unwrap_or(0);
        if time == 0 {
            let text = "warning: file timestamp out of range for gzip format";
            self.report.warn(shown, text);
        }
        time
    }

    fn may_write_terminal(&mut self) -> bool {
        if self.options.force || !io::stdout().is_terminal() {
            return true;
        }
        let text =
            "compressed data not written to a terminal. Use -f to force compression.";
        self.report.error("stdout", text);
        false
    }
}

fn saved(tally: &Tally) -> String {
    ratio(tally.plain, tally.packed - tally.framing)
}

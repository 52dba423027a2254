//! Decompresses, tests or lists one file, or standard input.

use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Tool;
use super::options::{Mode, Voice};
use super::progress::Progress;
use super::report::ratio;
use super::streams::stdin;
use crate::files::{Input, Output, names};
use crate::gzip::{Counted, Header};
use crate::pipeline::{Foreign, Tally, plain};

impl Tool {
    pub(super) fn decompress_file(&mut self, input: &Input) {
        let shown = input.path.display().to_string();
        let named = names::decompressed(&input.path, &self.options.suffix);
        let looks_inside = self.options.writes_no_files();
        if !looks_inside && let Some(reason) = input.reason_to_leave(self.options.force) {
            return self.report.warn(shown, reason);
        }
        let read_anyway = looks_inside && !(self.options.recursive && self.is_dry());
        if named.is_none() && !read_anyway {
            let said = match self.options.voice {
                Voice::Verbose => true,
                Voice::Plain => !self.options.recursive,
                Voice::Quiet => false,
            };
            if said {
                self.report.warn(shown, "unknown suffix -- ignored");
            }
            return;
        }
        match (self.options.mode, named) {
            (Mode::Decompress, Some(target)) if !self.options.to_stdout => {
                self.decompress_in_place(input, &shown, target);
            }
            (Mode::Decompress, _) => {
                if let Some(tally) =
                    self.inflate_to_stdout(&input.file, &shown, Some(input))
                {
                    self.outcome(&input.path, &saved(&tally), "stdout");
                }
            }
            (Mode::Test, _) => {
                if self
                    .inflate_to_nowhere(&input.file, &shown, Some(input))
                    .is_some()
                {
                    self.report.done(format_args!("{shown}:\t OK"));
                }
            }
            (Mode::List | Mode::Compress, named) => {
                if let Some(tally) =
                    self.inflate_to_nowhere(&input.file, &shown, Some(input))
                {
                    let name = named.unwrap_or_else(|| input.path.clone());
                    let name = self.stored_name(&input.path, &tally).unwrap_or(name);
                    let time = input.facts.modified().ok();
                    self.row(&tally, time, &name);
                }
            }
        }
    }

    pub(super) fn decompress_stdin(&mut self) {
        let text =
            "compressed data not read from a terminal. Use -f to force decompression.";
        let may_read = self.options.force || self.options.mode == Mode::List;
        if self.stdin_is_terminal() && !may_read {
            return self.report.error("stdin", text);
        }
        let input = match stdin() {
            Ok(input) => input,
            Err(error) => return self.report.error("stdin", plain(&error)),
        };
        match self.options.mode {
            Mode::Test => {
                if self.inflate_to_nowhere(&input, "stdin", None).is_some() {
                    self.report.done(" OK");
                }
            }
            Mode::List => {
                if let Some(tally) = self.inflate_to_nowhere(&input, "stdin", None) {
                    let time = input
                        .metadata()
                        .ok()
                        .and_then(|facts| facts.modified().ok());
                    let name = Path::new("stdout");
                    let stored = self.stored_name(name, &tally);
                    self.row(&tally, time, stored.as_deref().unwrap_or(name));
                }
            }
            Mode::Decompress | Mode::Compress => {
                self.inflate_to_stdout(&input, "stdin", None);
            }
        }
    }

    fn decompress_in_place(&mut self, input: &Input, shown: &str, target: PathBuf) {
        let (mut target, mut time) = (target, None);
        let (restores_name, restores_time) = (self.options.name, self.options.time);
        if restores_name || restores_time {
            match peek_header(&input.file) {
                Err(error) => return self.report.error(shown, plain(&error)),
                Ok(header) => {
                    let stored = header.name.filter(|_| restores_name);
                    let stored = stored.and_then(|n| names::restored(&input.path, &n));
                    // A name of the file itself would replace it, even with `-k`.
                    let own = (input.facts.dev(), input.facts.ino());
                    let is_own = |facts: Metadata| (facts.dev(), facts.ino()) == own;
                    let stored =
                        stored.filter(|name| !fs::metadata(name).is_ok_and(is_own));
                    target = stored.unwrap_or(target);
                    let seconds = Duration::from_secs(header.mtime.into());
                    time = (restores_time && header.mtime != 0)
                        .then(|| UNIX_EPOCH + seconds);
                }
            }
        }
        let Some(replace) = self.may_write(&target) else {
            return;
        };
        let named = target.display().to_string();
        let mut output = match Output::create(&target, self.options.synchronous) {
            Ok(output) => output,
            Err(error) => return self.report.error(named, plain(&error)),
        };
        let foreign = Foreign::Refused;
        let done = self.inflate(
            &input.file,
            foreign,
            shown,
            Some(input),
            &mut output,
            &named,
        );
        let Some(tally) = done else {
            return;
        };
        if !self.is_whole(input, tally.packed, shown) {
            return;
        }
        let done = output.commit(&input.facts, time, replace);
        self.conclude(input, &target, &saved(&tally), done);
    }

    fn inflate_to_stdout(
        &mut self,
        from: &File,
        shown: &str,
        input: Option<&Input>,
    ) -> Option<Tally> {
        let mut output = match self.results() {
            Ok(output) => output,
            Err(error) => {
                self.report.error("stdout", plain(&error));
                return None;
            }
        };
        let foreign = self.foreign();
        self.inflate(from, foreign, shown, input, &mut output, "stdout")
    }

    fn inflate_to_nowhere(
        &mut self,
        from: &File,
        shown: &str,
        input: Option<&Input>,
    ) -> Option<Tally> {
        let foreign = self.foreign();
        self.inflate(from, foreign, shown, input, &mut io::sink(), "")
    }

    /// With -f, data in an unknown format is copied unchanged, unless the output is a file or a
    /// listing.
    fn foreign(&self) -> Foreign {
        match self.options.force && self.options.mode != Mode::List {
            true => Foreign::Copied,
            false => Foreign::Refused,
        }
    }

    fn inflate(
        &mut self,
        from: impl Read,
        foreign: Foreign,
        shown: &str,
        input: Option<&Input>,
        output: &mut (dyn Write + Send),
        named: &str,
    ) -> Option<Tally> {
        let length = input.filter(|i| i.facts.is_file()).map(|i| i.facts.len());
        let mut reader = Progress::over(from, shown, length, self.progress_visible());
        let done = self.engine.decompress(&mut reader, foreign, output);
        drop(reader);
        match done {
            Ok(tally) => {
                self.stats.count(&tally);
                if tally.padded && self.options.voice == Voice::Verbose {
                    let text = "decompression OK, trailing zero bytes ignored";
                    self.report.warn(shown, text);
                }
                Some(tally)
            }
            Err(failure) => {
                self.failed(shown, named, &failure);
                None
            }
        }
    }

    fn row(&mut self, tally: &Tally, time: Option<SystemTime>, name: &Path) {
        let stored = tally.header.as_ref().filter(|_| self.options.time);
        let stored = stored.map_or(0, |header| header.mtime);
        let seconds = Duration::from_secs(stored.into());
        let time = match stored {
            0 => time,
            _ => Some(UNIX_EPOCH + seconds),
        };
        if let Err(error) = self.listing.row(tally, time, name) {
            self.stdout_failed(&error);
        }
    }

    fn stored_name(&self, path: &Path, tally: &Tally) -> Option<PathBuf> {
        let header = tally.header.as_ref().filter(|_| self.options.name)?;
        names::restored(path, header.name.as_deref()?)
    }

    /// Returns true if files are only tested or listed.
    fn is_dry(&self) -> bool {
        matches!(self.options.mode, Mode::Test | Mode::List)
    }
}

/// Returns the first header of a file, and rewinds the file. A damaged header gives an empty one:
/// decompressing will report the damage.
fn peek_header(mut file: &File) -> io::Result<Header> {
    let header = Header::read(&mut Counted::new(BufReader::new(file)))?;
    file.rewind()?;
    Ok(header.unwrap_or_default())
}

fn saved(tally: &Tally) -> String {
    ratio(tally.plain, tally.packed.saturating_sub(tally.framing))
}

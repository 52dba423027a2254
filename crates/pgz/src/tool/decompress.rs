//! Decompresses, tests or lists one file, or standard input.

use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Tool;
use super::operand::{stdin, stdout};
use super::options::{Mode, Voice};
use super::progress::Progress;
use super::report::ratio;
use crate::files::{Input, Output, names};
use crate::gzip::{Counted, Header, MAGIC};
use crate::pipeline::{Failure, Tally, plain};

impl Tool {
    pub(super) fn decompress_file(&mut self, input: &Input) {
        let shown = input.path.display().to_string();
        let named = names::decompressed(&input.path, &self.options.suffix);
        let looks_inside = self.options.writes_no_files();
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
        if io::stdin().is_terminal() && !self.options.force {
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
                    self.row(&tally, time, Path::new("stdout"));
                }
            }
            Mode::Decompress | Mode::Compress => {
                if let Some(tally) = self.inflate_to_stdout(&input, "stdin", None) {
                    self.report.done(saved(&tally));
                }
            }
        }
    }

    fn decompress_in_place(&mut self, input: &Input, shown: &str, target: PathBuf) {
        let (mut target, mut time) = (target, None);
        if self.options.names {
            match peek_header(&input.file) {
                Err(error) => return self.report.error(shown, plain(&error)),
                Ok(header) => {
                    let stored =
                        header.name.and_then(|n| names::restored(&input.path, &n));
                    target = stored.unwrap_or(target);
                    let seconds = Duration::from_secs(header.mtime.into());
                    time = (header.mtime != 0).then(|| UNIX_EPOCH + seconds);
                }
            }
        }
        if !self.options.force
            && let Some(reason) = input.reason_to_leave()
        {
            return self.report.warn(shown, reason);
        }
        let Some(replace) = self.may_write(&target) else {
            return;
        };
        let named = target.display().to_string();
        let mut output = match Output::create(&target) {
            Ok(output) => output,
            Err(error) => return self.report.error(named, plain(&error)),
        };
        let done = self.inflate(&input.file, shown, Some(input), &mut output, &named);
        let Some(tally) = done else {
            return;
        };
        match output.commit(&input.facts, time, replace) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.refuse_to_overwrite(&target);
            }
            Err(error) => self.report.error(named, plain(&error)),
            Ok(()) => {
                self.retire(input);
                self.outcome(&input.path, &saved(&tally), named);
            }
        }
    }

    fn inflate_to_stdout(
        &mut self,
        from: &File,
        shown: &str,
        input: Option<&Input>,
    ) -> Option<Tally> {
        let mut output = match stdout() {
            Ok(output) => output,
            Err(error) => {
                self.report.error("stdout", plain(&error));
                return None;
            }
        };
        if !self.options.force {
            return self.inflate(from, shown, input, &mut output, "stdout");
        }
        // With -dcf, what is not compressed passes through as it is.
        let mut start = Vec::with_capacity(MAGIC.len());
        let peeked = from.take(MAGIC.len() as u64).read_to_end(&mut start);
        let is_gzip = start == MAGIC;
        let mut whole = io::Cursor::new(start).chain(from);
        let done = match peeked {
            Err(error) => Err(Failure::Read(error)),
            Ok(_) if is_gzip => {
                return self.inflate(&mut whole, shown, input, &mut output, "stdout");
            }
            Ok(_) => copy(&mut whole, &mut output),
        };
        if let Err(failure) = done {
            self.failed(shown, "stdout", &failure);
        }
        None
    }

    fn inflate_to_nowhere(
        &mut self,
        from: &File,
        shown: &str,
        input: Option<&Input>,
    ) -> Option<Tally> {
        self.inflate(from, shown, input, &mut io::sink(), "")
    }

    fn inflate(
        &mut self,
        from: impl Read,
        shown: &str,
        input: Option<&Input>,
        output: &mut (dyn Write + Send),
        named: &str,
    ) -> Option<Tally> {
        let length = input.filter(|i| i.facts.is_file()).map(|i| i.facts.len());
        let mut reader = Progress::over(from, shown, length, self.progress_visible());
        let done = self.engine.decompress(&mut reader, output);
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
        if let Err(error) = self.listing.row(tally, time, name) {
            self.report.error("stdout", plain(&error));
        }
    }

    fn stored_name(&self, path: &Path, tally: &Tally) -> Option<PathBuf> {
        let header = tally.header.as_ref().filter(|_| self.options.names)?;
        names::restored(path, header.name.as_deref()?)
    }

    /// Whether files are only looked at.
    fn is_dry(&self) -> bool {
        matches!(self.options.mode, Mode::Test | Mode::List)
    }
}

/// The first header of a file, which is then at its start again. A damaged one gives an
/// empty header: decompressing will report it.
fn peek_header(mut file: &File) -> io::Result<Header> {
    let header = Header::read(&mut Counted::new(BufReader::new(file)))?;
    file.rewind()?;
    Ok(header.unwrap_or_default())
}

fn copy(from: &mut dyn Read, to: &mut dyn Write) -> Result<(), Failure> {
    let mut buffer = vec![0; 128 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => to.write_all(&buffer[..n]).map_err(Failure::Write)?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Failure::Read(e)),
        }
    }
}

fn saved(tally: &Tally) -> String {
    ratio(tally.plain, tally.packed.saturating_sub(tally.framing))
}

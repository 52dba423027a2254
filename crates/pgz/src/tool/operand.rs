//! One operand after another: determines its kind and passes it on.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, IsTerminal, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use signal_hook::consts::SIGINT;

use super::options::{Mode, Options, Voice};
use super::stats::Stats;
use super::streams::{end_if_unread, stdout};
use super::{Listing, Report};
use crate::files::{
    Input, InputKind, ModeSet, Replace, close, inherited, is_temporary, kind, names,
};
use crate::pipeline::{Engine, Failure, Fibers, plain};

/// The program's state from file to file.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) options: Options,
    pub(super) report: Report,
    pub(super) engine: Engine<Fibers>,
    fibers: Fibers,
    pub(super) listing: Listing,
    pub(super) stats: Stats,
    /// Results have been written to standard output.
    has_used_stdout: bool,
    /// The directories being walked, to notice one that contains itself through a link.
    walked: Vec<(u64, u64)>,
}

impl Tool {
    /// # Errors
    ///
    /// If the runtime cannot be built.
    pub(super) fn new(options: Options) -> io::Result<Tool> {
        let fibers = Fibers::new(options.workers)?;
        Ok(Tool {
            report: Report::new(options.called.clone(), options.voice),
            engine: Engine::new(fibers.clone(), options.settings),
            fibers,
            listing: Listing::new(options.voice),
            stats: Stats::start(),
            has_used_stdout: false,
            walked: Vec::new(),
            options,
        })
    }

    /// Processes one operand.
    pub(super) fn operand(&mut self, operand: &OsStr) {
        if operand == "-" {
            match self.options.mode {
                Mode::Compress => self.compress_stdin(),
                _ => self.decompress_stdin(),
            }
        } else {
            self.path(Path::new(operand), true);
        }
    }

    /// Prints the remaining output and returns the exit code.
    pub(super) fn finish(mut self) -> ExitCode {
        if self.options.mode == Mode::List
            && let Err(error) = self.listing.totals(self.options.operands.len())
        {
            self.stdout_failed(&error);
        }
        if self.options.synchronous && self.has_used_stdout {
            self.sync_stdout();
        }
        if self.has_used_stdout
            && let Err(error) = stdout().and_then(close)
        {
            self.stdout_failed(&error);
        }
        if self.options.stats {
            self.stats
                .print(&self.options.called, &self.fibers.metrics());
        }
        self.report.code()
    }

    /// Returns standard output for results, which [`finish`](Self::finish) then concludes.
    pub(super) fn results(&mut self) -> io::Result<File> {
        let results = stdout()?;
        self.has_used_stdout = true;
        Ok(results)
    }

    /// Waits until standard output is on the disk, if it goes there.
    fn sync_stdout(&mut self) {
        let done = stdout().and_then(|stdout| stdout.sync_data());
        if let Err(error) = done
            && error.kind() != io::ErrorKind::InvalidInput
        {
            self.stdout_failed(&error);
        }
    }

    /// Reports that standard output could not be written.
    pub(super) fn stdout_failed(&mut self, error: &io::Error) {
        end_if_unread(error, self.options.voice);
        self.report.error("stdout", plain(error));
    }

    /// `named`: the path is from the command line, not from a directory.
    fn path(&mut self, path: &Path, named: bool) {
        let follow = self.options.follows_links();
        // In a directory, a pipe would be waited for, and a device read without end.
        let only_regular = !named || !self.options.writes_no_files();
        match self.find(path, follow, named) {
            Err((path, error)) => self.report.error(path.display(), plain(&error)),
            Ok((path, InputKind::Directory)) => self.directory(&path),
            Ok((path, InputKind::Other)) if only_regular => {
                let text = "is not a directory or a regular file -- ignored";
                self.report.warn(path.display(), text);
            }
            Ok((path, _)) => match Input::open(&path, follow) {
                Err(error) => self.report.error(path.display(), plain(&error)),
                Ok(input) => match self.options.mode {
                    Mode::Compress => self.compress_file(&input),
                    _ => self.decompress_file(&input),
                },
            },
        }
    }

    /// Returns the path on disk, and its kind. `pgz -d a` finds `a.gz`.
    fn find(
        &self,
        path: &Path,
        follow: bool,
        named: bool,
    ) -> Result<(PathBuf, InputKind), (PathBuf, io::Error)> {
        let error = match kind(path, follow) {
            Ok(kind) => return Ok((path.to_owned(), kind)),
            Err(error) => error,
        };
        let tries = match self.options.mode {
            Mode::Compress => Vec::new(),
            _ if error.kind() == io::ErrorKind::NotFound && named => {
                names::candidates(path, &self.options.suffix)
            }
            _ => Vec::new(),
        };
        for candidate in &tries {
            match kind(candidate, follow) {
                Ok(kind) => return Ok((candidate.clone(), kind)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err((candidate.clone(), error)),
            }
        }
        let named_in_error = tries.into_iter().next().unwrap_or_else(|| path.to_owned());
        Err((named_in_error, error))
    }

    fn directory(&mut self, path: &Path) {
        if !self.options.recursive {
            self.report
                .warn(path.display(), "is a directory -- ignored");
            return;
        }
        if let Err(error) = self.walk(path) {
            self.report.error(path.display(), plain(&error));
        }
    }

    fn walk(&mut self, path: &Path) -> io::Result<()> {
        let facts = fs::metadata(path)?;
        let identity = (facts.dev(), facts.ino());
        if self.walked.contains(&identity) {
            return Err(rustix::io::Errno::LOOP.into());
        }
        // All names first: the files created here must not be visited.
        let mut entries = fs::read_dir(path)?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<Vec<PathBuf>>>()?;
        // What another process is about to rename, or has left behind.
        entries.retain(|path| !is_temporary(path));
        entries.sort_unstable();
        self.walked.push(identity);
        for entry in entries {
            self.path(&entry, false);
        }
        self.walked.pop();
        Ok(())
    }

    /// Returns whether `target` may be written, and whether that replaces a file. Reports it if it
    /// may not.
    pub(super) fn may_write(&mut self, target: &Path) -> Option<Replace> {
        if self.options.force {
            return Some(Replace::Allowed);
        }
        if fs::symlink_metadata(target).is_err() {
            return Some(Replace::Refused);
        }
        // In the background of a script, a question would have no answer.
        let asks = !inherited::ignores(SIGINT) && self.stdin_is_terminal();
        if asks && self.confirms(target).unwrap_or(false) {
            return Some(Replace::Allowed);
        }
        self.refuse_to_overwrite(target);
        None
    }

    pub(super) fn refuse_to_overwrite(&mut self, target: &Path) {
        self.report
            .warn_always(target.display(), "already exists;\tnot overwritten");
    }

    pub(super) fn stdin_is_terminal(&self) -> bool {
        self.options.presumes_terminal || io::stdin().is_terminal()
    }

    fn confirms(&self, target: &Path) -> io::Result<bool> {
        let mut stderr = io::stderr();
        let question = "already exists; do you wish to overwrite (y or n)?";
        let called = &self.options.called;
        write!(stderr, "{called}: {} {question} ", target.display())?;
        stderr.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        Ok(answer.trim_start().starts_with(['y', 'Y']))
    }

    /// Reports a pipeline's failure under the name of the side it concerns.
    pub(super) fn failed(&mut self, input: &str, output: &str, failure: &Failure) {
        let side = match failure {
            Failure::Write(error) => {
                end_if_unread(error, self.options.voice);
                output
            }
            _ => input,
        };
        self.report.error(side, failure);
    }

    /// Returns true if `read` bytes are all of `input`, or if it is kept: the output may then get
    /// its final name. Reports a difference.
    pub(super) fn is_whole(&mut self, input: &Input, read: u64, shown: &str) -> bool {
        match input.unchanged(read) {
            Ok(true) => return true,
            Ok(false) if self.options.keep => {
                self.report.warn(shown, "changed while being read");
                return true;
            }
            Ok(false) => self.report.error(shown, "changed while being read -- kept"),
            Err(error) => self.report.error(shown, plain(&error)),
        }
        false
    }

    /// Reports the commit of `target`; on success removes `input`. A mode that could not be set is a
    /// warning.
    pub(super) fn conclude(
        &mut self,
        input: &Input,
        target: &Path,
        ratio: &str,
        committed: io::Result<ModeSet>,
    ) {
        let named = target.display().to_string();
        match committed {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.refuse_to_overwrite(target);
            }
            Err(error) => self.report.error(named, plain(&error)),
            Ok(mode) => {
                if let Err(error) = mode.0 {
                    self.report.warn(&named, plain(&error));
                }
                self.retire(input);
                self.outcome(&input.path, ratio, named);
            }
        }
    }

    /// Removes the input of a finished file, unless it is to be kept.
    fn retire(&mut self, input: &Input) {
        if self.options.keep {
            return;
        }
        match input.remove(self.options.force) {
            Ok(true) => {}
            Ok(false) => {
                self.report
                    .warn(input.path.display(), "was replaced meanwhile -- kept");
            }
            Err(error) => self.report.warn(input.path.display(), plain(&error)),
        }
    }

    /// Prints the line of `-v` for a file.
    pub(super) fn outcome(&mut self, input: &Path, ratio: &str, output: impl ToString) {
        let verb = if self.options.keep {
            "created"
        } else {
            "replaced with"
        };
        let output = output.to_string();
        self.report.done(format_args!(
            "{}:\t{ratio} -- {verb} {output}",
            input.display()
        ));
    }

    pub(super) fn progress_visible(&self) -> bool {
        self.options.voice != Voice::Quiet
            && io::stderr().is_terminal()
            && !(self.options.to_stdout && io::stdout().is_terminal())
    }
}

//! The options after parsing.

use std::ffi::OsString;

use crate::pipeline::Settings;

/// The operation on each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Compress it.
    Compress,
    /// Decompress it (`-d`).
    Decompress,
    /// Decompress it and keep nothing (`-t`).
    Test,
    /// Print its sizes (`-l`).
    List,
}

/// The amount of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// Errors only (`-q`).
    Quiet,
    /// Errors and warnings.
    Plain,
    /// A line for each file as well (`-v`).
    Verbose,
}

/// The command line after parsing.
#[derive(Clone, Debug)]
pub(super) struct Options {
    /// The name by which the program was called, for messages.
    pub(super) called: String,
    /// Remarks about the options themselves, to be made before anything else.
    pub(super) remarks: Vec<&'static str>,
    pub(super) mode: Mode,
    pub(super) voice: Voice,
    /// Write to standard output (`-c`).
    pub(super) to_stdout: bool,
    /// Do not remove the input (`-k`).
    pub(super) keep: bool,
    /// Overwrite, follow links, write to a terminal (`-f`).
    pub(super) force: bool,
    /// Walk through directories (`-r`).
    pub(super) recursive: bool,
    /// Compressing: store the name. Decompressing: restore it (`-n`, `-N`).
    pub(super) name: bool,
    /// The same for the time (`-n`, `-N`, `-m`, `-M`).
    pub(super) time: bool,
    /// A file is on the disk before its input is removed (`--synchronous`).
    pub(super) synchronous: bool,
    /// Standard input counts as a terminal (`---presume-input-tty`).
    pub(super) presumes_terminal: bool,
    /// Print the runtime's counters at the end (`--stats`).
    pub(super) stats: bool,
    /// Suffix of compressed files (`-S`).
    pub(super) suffix: OsString,
    /// Number of blocks processed at once (`-p`).
    pub(super) workers: usize,
    /// Level, block size, independence.
    pub(super) settings: Settings,
    /// The files; `-` stands for standard input.
    pub(super) operands: Vec<OsString>,
}

impl Options {
    /// Returns true if nothing is written to files.
    pub(super) fn writes_no_files(&self) -> bool {
        self.to_stdout || matches!(self.mode, Mode::Test | Mode::List)
    }

    /// Returns true if symbolic links are followed.
    pub(super) fn follows_links(&self) -> bool {
        self.force || self.writes_no_files()
    }
}

//! Messages and the exit code.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use super::options::Voice;

/// Prints messages, and records the most severe.
#[derive(Debug)]
pub(super) struct Report {
    called: String,
    voice: Voice,
    code: u8,
}

impl Report {
    /// `called` is the program's name in the messages.
    pub(super) fn new(called: String, voice: Voice) -> Report {
        Report {
            called,
            voice,
            code: OK,
        }
    }

    /// Prints an error about `what`, always; exit code 1.
    pub(super) fn error(&mut self, what: impl Display, text: impl Display) {
        self.code = ERROR;
        say(format_args!("{}: {what}: {text}\n", self.called));
    }

    /// Prints a warning unless quiet; exit code 2 if there is no error.
    pub(super) fn warn(&mut self, what: impl Display, text: impl Display) {
        if self.code == OK {
            self.code = WARNING;
        }
        self.note(what, text);
    }

    /// Prints a warning even with `-q`, as gzip does for existing files.
    pub(super) fn warn_always(&mut self, what: impl Display, text: impl Display) {
        if self.code == OK {
            self.code = WARNING;
        }
        say(format_args!("{}: {what} {text}\n", self.called));
    }

    /// Prints a remark unless quiet; no effect on the exit code.
    pub(super) fn note(&mut self, what: impl Display, text: impl Display) {
        if self.voice != Voice::Quiet {
            say(format_args!("{}: {what}: {text}\n", self.called));
        }
    }

    /// Prints a remark about no file unless quiet.
    pub(super) fn remark(&mut self, text: impl Display) {
        if self.voice != Voice::Quiet {
            say(format_args!("{}: {text}\n", self.called));
        }
    }

    /// Prints a line about a completed operation if verbose.
    pub(super) fn done(&mut self, line: impl Display) {
        if self.voice == Voice::Verbose {
            say(format_args!("{line}\n"));
        }
    }

    pub(super) fn code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

/// Returns the reduction from `plain` to `packed`, as gzip prints it.
pub(super) fn ratio(plain: u64, packed: u64) -> String {
    let saved = match plain {
        0 => 0.0,
        _ => 100.0 * (plain as f64 - packed as f64) / plain as f64,
    };
    format!("{saved:5.1}%")
}

/// One write for a message, so that lines of several processes do not mix. A failure is ignored:
/// there is no stream left to report it.
fn say(text: std::fmt::Arguments<'_>) {
    let _ = io::stderr().write_all(text.to_string().as_bytes());
}

const OK: u8 = 0;
const ERROR: u8 = 1;
/// The exit code of a warning.
pub(super) const WARNING: u8 = 2;

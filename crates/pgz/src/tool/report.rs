//! Messages and the exit code.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use super::options::Voice;

/// Says things, and remembers the worst.
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

    /// An error that concerns `what`: always said; exit code 1.
    pub(super) fn error(&mut self, what: impl Display, text: impl Display) {
        self.code = ERROR;
        say(format_args!("{}: {what}: {text}\n", self.called));
    }

    /// A warning: said unless quiet; exit code 2 if nothing worse happens.
    pub(super) fn warn(&mut self, what: impl Display, text: impl Display) {
        if self.code == OK {
            self.code = WARNING;
        }
        self.note(what, text);
    }

    /// A warning that even `-q` does not silence, as gzip has it for files in the way.
    pub(super) fn warn_always(&mut self, what: impl Display, text: impl Display) {
        if self.code == OK {
            self.code = WARNING;
        }
        say(format_args!("{}: {what} {text}\n", self.called));
    }

    /// A remark: said unless quiet; no effect on the exit code.
    pub(super) fn note(&mut self, what: impl Display, text: impl Display) {
        if self.voice != Voice::Quiet {
            say(format_args!("{}: {what}: {text}\n", self.called));
        }
    }

    /// A remark that concerns no file: said unless quiet.
    pub(super) fn remark(&mut self, text: impl Display) {
        if self.voice != Voice::Quiet {
            say(format_args!("{}: {text}\n", self.called));
        }
    }

    /// A line about what was done: said if verbose.
    pub(super) fn done(&mut self, line: impl Display) {
        if self.voice == Voice::Verbose {
            say(format_args!("{line}\n"));
        }
    }

    pub(super) fn code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

/// How much smaller `packed` is than `plain`, as gzip prints it.
pub(super) fn ratio(plain: u64, packed: u64) -> String {
    let saved = match plain {
        0 => 0.0,
        _ => 100.0 * (plain as f64 - packed as f64) / plain as f64,
    };
    format!("{saved:5.1}%")
}

/// One write for a message, so that lines of several processes do not mix. Nobody can be
/// told when standard error itself is closed.
fn say(text: std::fmt::Arguments<'_>) {
    let _ = io::stderr().write_all(text.to_string().as_bytes());
}

const OK: u8 = 0;
const ERROR: u8 = 1;
/// The exit code of a warning.
pub(super) const WARNING: u8 = 2;

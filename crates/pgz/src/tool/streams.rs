//! The standard streams, and the end of the program when a pipe has no reader.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use signal_hook::consts::SIGPIPE;
use signal_hook::low_level::emulate_default_handler;

use super::options::Voice;
use super::report::WARNING;
use crate::files::inherited;

/// Standard output as a plain file: std's own is line-buffered, and reports no error if the
/// descriptor cannot be written.
pub(super) fn stdout() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Standard input likewise.
pub(super) fn stdin() -> io::Result<File> {
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Writes a text to standard output.
pub(super) fn print(text: &str) -> io::Result<()> {
    stdout()?.write_all(text.as_bytes())
}

/// Ends the program if `error` is a broken pipe: by `SIGPIPE` and without a message, or with the
/// exit code of a warning if `voice` is quiet. Returns if `SIGPIPE` was ignored at the start: the
/// error is then an ordinary one.
pub(super) fn end_if_unread(error: &io::Error, voice: Voice) {
    if error.kind() != io::ErrorKind::BrokenPipe || inherited::ignores(SIGPIPE) {
        return;
    }
    if voice == Voice::Quiet {
        std::process::exit(WARNING.into());
    }
    let _ = emulate_default_handler(SIGPIPE);
}

//! The standard streams, and the end of the program when a pipe has no reader.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use signal_hook::consts::SIGPIPE;
use signal_hook::low_level::emulate_default_handler;

use super::options::Voice;
use super::report::WARNING;
use crate::files::inherited;

/// Standard output as a plain file: std's own is line-buffered, and reports no error if the
/// descriptor cannot be written. It blocks from here on, as gzip's does.
pub(super) fn stdout() -> io::Result<File> {
    blocking(io::stdout().as_fd())
}

/// Standard input likewise.
pub(super) fn stdin() -> io::Result<File> {
    blocking(io::stdin().as_fd())
}

fn blocking(stream: BorrowedFd<'_>) -> io::Result<File> {
    let file = File::from(stream.try_clone_to_owned()?);
    let flags = fcntl_getfl(&file)?;
    if flags.contains(OFlags::NONBLOCK) {
        fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    }
    Ok(file)
}

/// Writes to standard output.
pub(super) fn print(bytes: &[u8]) -> io::Result<()> {
    stdout()?.write_all(bytes)
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

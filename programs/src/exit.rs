//! The report of a program's failure.

use std::process::ExitCode;

use crate::log;

/// Writes an error to standard error, if there is one; returns the exit code of the program with
/// this name: 0 for success, 1 for a failure. (The parser of the command line returns 2.)
#[must_use]
pub fn exit(program: &str, ended: anyhow::Result<()>) -> ExitCode {
    match ended {
        Ok(()) => {
            log::end(None);
            ExitCode::SUCCESS
        }
        Err(error) => {
            // All causes on one line, from the operation to the system's error.
            log::end(Some(format_args!("{program}: {error:#}")));
            ExitCode::FAILURE
        }
    }
}

//! How a program tells that it has failed.

use std::process::ExitCode;

use crate::log;

/// Writes to standard error what went wrong, if something did; returns the exit code of the
/// program with this name: 0 for success, 1 for a failure. (2, for a wrong command line, is
/// said where that is read.)
#[must_use]
pub fn exit(program: &str, ended: anyhow::Result<()>) -> ExitCode {
    match ended {
        Ok(()) => {
            log::end(None);
            ExitCode::SUCCESS
        }
        Err(error) => {
            // All causes on one line, from what was being done to what the system said.
            log::end(Some(format_args!("{program}: {error:#}")));
            ExitCode::FAILURE
        }
    }
}

//! From the arguments to the exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use super::args;
use super::interactive;
use super::once;
use crate::wire::Failure;

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    let args = args::read();
    let done = if args.once || args.fiber.is_some() {
        once::run(&args)
    } else {
        interactive::run(&args)
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has closed.
        Err(Failure::System(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let _ = writeln!(io::stderr(), "pirn-top: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

//! From the arguments to the exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use super::args::{self, Args};
use super::interactive;
use super::once;
use super::signals::Signals;
use crate::web::{self, WebOptions};
use crate::wire::Failure;

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    let args = args::read();
    let done = if args.web.is_some() || args.record.is_some() {
        serve_or_record(args)
    } else if args.once || args.fiber.is_some() {
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

/// Serves the page, records, or both, until a signal ends it.
fn serve_or_record(args: Args) -> Result<(), Failure> {
    let signals = Signals::watch().map_err(Failure::System)?;
    let web = WebOptions {
        socket: args.replay.is_none().then_some(args.socket),
        replay: args.replay,
        listen: args.web,
        record: args.record,
        most: args.most,
        interval: args.interval,
    };
    web::run(web, || signals.has_come())
}

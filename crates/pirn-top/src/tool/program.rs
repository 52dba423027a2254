//! From the arguments to the exit code.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{Errno, fcntl_getfd};
use rustix::stdio::stdout;

use super::args::{self, Args};
use super::interactive;
use super::once;
use super::signals::Signals;
use crate::web::{self, WebOptions};
use crate::wire::Failure;

/// The process was started without a standard output.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Records whether standard output is closed. std's start-up opens the null device in its place, so
/// the program calls this before.
pub fn look() {
    let closed = fcntl_getfd(stdout()) == Err(Errno::BADF);
    CLOSED.store(closed, Ordering::Relaxed);
}

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    match run(args::read()) {
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

fn run(args: Args) -> Result<(), Failure> {
    if args.web.is_some() || args.record.is_some() {
        serve_or_record(args)
    } else if CLOSED.load(Ordering::Relaxed) {
        // The null device in its place would take the output.
        let error = io::Error::other("standard output is closed");
        Err(Failure::System(error))
    } else if args.once || args.fiber.is_some() {
        once::run(&args)
    } else {
        interactive::run(&args)
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

//! Runs a command for each line of input, a bounded number at once, and never loses an accepted
//! line.
//!
//! Lines come from standard input, or with `--listen` from any number of connections. Each is
//! numbered and answered twice: `accepted 3` when it is certain to be run; `ended 3 exit status: 0`
//! (or `failed 3 …`, if the command cannot be started) afterwards.
//!
//! * `pool`: the workers, and the queue in front of them.
//! * `source`: one source of lines, from its first line to the last answer.
//!
//! The program ends at the end of the input, or at a signal. No line is read after that. The
//! shutdown follows the path of the jobs: each source waits for the answers to its accepted lines.
//! When all sources have ended the queue is closed, and the workers end when it is empty. Another
//! signal meanwhile ends the program at once, without its last answers.

mod pool;
mod source;

use std::io::BufReader;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Parser;
use pirn::net::TcpStream;
use pirn::sync::Event;
use pirn_programs::{Server, Stop, exit, hang_up};

use crate::pool::Pool;

/// Runs a command for each line that comes.
#[derive(Parser)]
#[command(name = "drain")]
struct Args {
    /// Takes lines from connections to this address; otherwise from standard input
    #[arg(long)]
    listen: Option<String>,
    /// How many commands run at once
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Seconds that connections have to end after SIGTERM
    #[arg(long, default_value_t = 3600)]
    grace: u64,
    /// The command, which is given the line as its last argument
    #[arg(required = true, trailing_var_arg = true)]
    command: Vec<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    exit("drain", pirn::run(|| run(args)))
}

fn run(args: Args) -> anyhow::Result<()> {
    let pool = Arc::new(Pool::new(args.command, args.jobs.into()));
    let shared = Arc::clone(&pool);
    let served = match args.listen {
        Some(address) => {
            let server = Server::new(&address, Duration::from_secs(args.grace))?;
            let stop = server.stop();
            server.run(move |stream| connection(stream, &shared, &stop))
        }
        None => standard(&shared),
    };
    // Sources that were cut off wait for no answers; accepted lines are still run.
    pool.drain()?;
    served
}

/// Runs the lines of standard input.
fn standard(pool: &Pool) -> anyhow::Result<()> {
    let (stop, signals) = Stop::on_signals()?;
    let (stop, over) = (&stop, &Event::manual());
    let counts = pirn::scope(|s| {
        s.spawn(move || {
            // The first signal ends the input. The next one has its usual effect.
            let _ = stop.unless(|| over.wait());
            drop(signals);
        });
        let input = BufReader::new(pirn::io::stdin());
        let counts = source::serve(input, pirn::io::stdout(), pool, stop);
        over.set();
        counts
    })?;
    ensure!(
        counts.failed == 0,
        "{} of {} commands have failed",
        counts.failed,
        counts.accepted
    );
    Ok(())
}

/// Runs the lines of a connection.
fn connection(stream: TcpStream, pool: &Pool, stop: &Stop) -> anyhow::Result<()> {
    let input = BufReader::new(stream.try_clone()?);
    source::serve(input, &stream, pool, stop)?;
    hang_up(stream).context("cannot close")
}

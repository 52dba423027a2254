//! Downloads files over HTTP and HTTPS, several at once, and prints their SHA-256 sums.
//!
//! The protocol is implemented by a third-party client for threads. Its transport is replaced by
//! sockets on which a fiber waits. So a download is a plain function with plain loops, and a
//! hundred of them need no more threads than one.
//!
//! * `attempt`: one request and its answer, into a file.
//! * `range`, `version`: the part and the version of the file in an answer.
//! * `temporary`: the file, under a unique temporary name.
//! * `download`: attempts until the file is complete, and its final name.

mod attempt;
mod download;
mod range;
mod temporary;
mod version;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Parser;
use indicatif::MultiProgress;
use pirn::cancel::Token;
use pirn::fs;
use pirn::scope::TaskGroup;
use pirn::signal::{self, Signal};
use pirn_programs::{agent, exit, seconds};

use crate::download::Settings;

/// Downloads files, several at once, and prints their SHA-256 sums.
#[derive(Parser)]
#[command(name = "fetch")]
struct Args {
    /// Where the files are put
    #[arg(long, default_value = ".")]
    directory: PathBuf,
    /// How many are downloaded at once
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    parallel: u16,
    /// How often to try again after a failure that may pass
    #[arg(long, default_value_t = 3)]
    retries: u32,
    /// Seconds without an answer or a byte that are a failure; how long a name may be looked up
    /// is for the system to say
    #[arg(long, default_value = "30", value_parser = seconds)]
    timeout: Duration,
    /// Trusts these certificates, in PEM, instead of the usual ones
    #[arg(long)]
    ca: Option<PathBuf>,
    /// What to download
    #[arg(required = true)]
    urls: Vec<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    exit("fetch", pirn::run(|| run(args)))
}

fn run(args: Args) -> anyhow::Result<()> {
    let settings = Settings {
        agent: agent(args.timeout, REDIRECTS, args.ca.as_deref())?,
        directory: args.directory,
        retries: args.retries,
        // On a terminal only.
        progress: MultiProgress::new(),
    };
    let names = download::names(&args.urls)?;
    // Downloads that are cancelled remove their files.
    let stop = Token::new();
    let _signals =
        signal::cancel_on(&signals(), &stop).context("cannot listen to signals")?;
    let group = TaskGroup::under(&stop).limit(args.parallel.into());
    for (url, name) in args.urls.into_iter().zip(names) {
        let settings = settings.clone();
        let download = move || {
            let sum = download::run(&settings, &url, &name);
            sum.map(|sum| format!("{sum}  {name}")).context(url)
        };
        if group.spawn(download).is_err() {
            break;
        }
    }
    let reported = report(&group, &settings.progress);
    // After a failed report some are left.
    group.cancel();
    group.wait()?;
    let failed = reported?;
    if stop.is_cancelled() {
        bail!("interrupted");
    }
    if failed > 0 {
        bail!("{failed} not downloaded");
    }
    Ok(())
}

/// Prints the results of all downloads; returns how many have failed.
fn report(
    group: &TaskGroup<anyhow::Result<String>>,
    progress: &MultiProgress,
) -> anyhow::Result<usize> {
    let mut failed = 0;
    while let Some(ended) = group.join_next()? {
        match ended.context("a download has panicked")? {
            Ok(line) => progress
                .suspend(|| writeln!(io::stdout(), "{line}"))
                .context("cannot write to standard output")?,
            Err(error) => {
                failed += 1;
                // Standard error may be closed or full: the other downloads go on.
                let _ = progress.suspend(|| writeln!(io::stderr(), "fetch: {error:#}"));
            }
        }
    }
    Ok(failed)
}

/// Returns the signals that end the program. SIGHUP is left alone if it is ignored, as under
/// `nohup`.
fn signals() -> Vec<Signal> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let hang_up = 1 << (Signal::HUP.as_raw() - 1);
    let mut signals = vec![Signal::TERM, Signal::INT];
    if ignored.unwrap_or(0) & hang_up == 0 {
        signals.push(Signal::HUP);
    }
    signals
}

/// How many redirections are followed. Arbitrary.
const REDIRECTS: u32 = 10;

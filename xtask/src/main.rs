//! The checks, models and measurements of this repository, as one program.
//!
//! `cargo xtask` alone prints the commands. Every command prints how many tests or checks it
//! ran and fails at zero, so that an empty lane cannot pass. The last line is `N passed, N failed`.
#![expect(
    clippy::disallowed_methods,
    reason = "a program of plain threads, outside the runtime"
)]

mod ahead;
mod bench;
mod beside;
mod bounds;
mod ci;
mod command;
mod disturbance;
mod examples;
mod features;
mod harness;
mod markdown;
mod model;
mod on_time;
mod options;
mod processor;
mod programs;
#[path = "../../bench/src/harness/quiet.rs"]
mod quiet;
mod redis;
mod repo;
mod rows;
mod rust_src;
mod sanitize;
mod skips;
mod source;
mod stress;
mod suite;
mod tally;
mod targets;
mod tidy;

use std::process::ExitCode;
use std::time::Instant;

use options::Options;
use tally::{Tally, seconds};

/// A command: its name, flags, valued options, function, and help text.
struct Command {
    name: &'static str,
    /// Flags and options with a value; none when all arguments are passed on.
    options: Option<(&'static [&'static str], &'static [&'static str])>,
    run: fn(&Options) -> Result<Tally, String>,
    help: &'static str,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        options: Some((suite::FLAGS, suite::VALUED)),
        run: suite::all,
        help: "[name…] [--all] [--package P] [--verbose] [--jobs N] [--timeout S]: all tests but those about time",
    },
    Command {
        name: "timing",
        options: Some((suite::FLAGS, suite::VALUED)),
        run: suite::timing,
        help: "[name…]: tests about time, and those that need the whole machine, one at a time",
    },
    Command {
        name: "ci",
        options: Some((&[], &[])),
        run: ci::ci,
        help: "[step…]: everything that must hold, quick bounds",
    },
    Command {
        name: "tidy",
        options: Some((&["report"], &[])),
        run: |options| match options.has("report") {
            true => tidy::report(),
            false => tidy::tidy(),
        },
        help: "[--report]: layers, façades, budgets, unsafe list, words, documents; or figures",
    },
    Command {
        name: "rows",
        options: Some((rows::FLAGS, rows::VALUED)),
        run: rows::rows,
        help: "[row…] [--names] [--write]: run the proof of every promise in docs/features.md; which rows are open",
    },
    Command {
        name: "model",
        options: Some((model::FLAGS, model::VALUED)),
        run: model::model,
        help: "[name…] [--quick] [--engine loom|shuttle|spin] [--mutants]: models",
    },
    Command {
        name: "stress",
        options: Some((stress::FLAGS, stress::VALUED)),
        run: stress::stress,
        help: "[name…] [--minutes N | --repeat N] [--jobs N]: storms",
    },
    Command {
        name: "asan",
        options: Some((sanitize::FLAGS, sanitize::VALUED)),
        run: sanitize::asan,
        help: "[name…] [--quick]: tests under AddressSanitizer, leaks included",
    },
    Command {
        name: "tsan",
        options: Some((sanitize::FLAGS, sanitize::VALUED)),
        run: sanitize::tsan,
        help: "[name…] [--quick]: tests under ThreadSanitizer",
    },
    Command {
        name: "programs",
        options: Some((suite::FLAGS, suite::VALUED)),
        run: programs::programs,
        help: "[name…] [--verbose] [--jobs N] [--timeout S]: programs/, with peers",
    },
    Command {
        name: "targets",
        options: Some((&[], &[])),
        run: targets::targets,
        help: "[target…]: the library compiles for systems it is not tested on",
    },
    Command {
        name: "bench",
        options: None,
        run: bench::bench,
        help: "compare|echo|fork|tails|redis|guard|cost …: against peers, the baseline, a build that tells nothing",
    },
];

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let Some((name, rest)) = args.split_first() else {
        help();
        return ExitCode::FAILURE;
    };
    let Some(command) = COMMANDS.iter().find(|c| c.name == name) else {
        eprintln!("no command `{name}`");
        help();
        return ExitCode::FAILURE;
    };
    let start = Instant::now();
    let options = match command.options {
        Some((flags, valued)) => Options::parse(rest, flags, valued),
        None => Ok(Options::words(rest)),
    };
    let ended = options
        .and_then(|options| (command.run)(&options))
        .and_then(|tally| tally.nonzero(name));
    match ended {
        Ok(tally) => {
            skips::print();
            println!("== {name}, {}", seconds(start.elapsed()));
            if tally.left_out > 0 {
                println!("{} left out", tally.left_out);
            }
            if tally.skipped > 0 {
                println!("{} skipped", tally.skipped);
            }
            if tally.retried > 0 {
                println!("{} passed at another try", tally.retried);
            }
            println!("{} passed, {} failed", tally.passed, tally.failed);
            if tally.is_green() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(said) => {
            eprintln!("{name}: {said}");
            ExitCode::FAILURE
        }
    }
}

fn help() {
    println!("cargo xtask COMMAND");
    for command in COMMANDS {
        println!("  {:<8} {}", command.name, command.help);
    }
}

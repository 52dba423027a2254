//! The checks, models and measurements of this repository, as one program.
//!
//! `cargo xtask` alone prints the commands. Every command prints how many tests or checks it
//! ran and fails at zero, so that a dead lane cannot look green.
#![expect(
    clippy::disallowed_methods,
    reason = "a program of plain threads, outside the runtime"
)]

mod command;
mod features;
mod harness;
mod markdown;
mod options;
mod repo;
mod source;
mod suite;
mod tally;
mod tidy;

use std::process::ExitCode;
use std::time::Instant;

use options::Options;
use tally::{Tally, seconds};

/// A command: its name, flags, valued options, what it does, what it says in the help.
struct Command {
    name: &'static str,
    flags: &'static [&'static str],
    valued: &'static [&'static str],
    run: fn(&Options) -> Result<Tally, String>,
    help: &'static str,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        flags: suite::FLAGS,
        valued: suite::VALUED,
        run: suite::all,
        help: "[name…] [--verbose] [--jobs N] [--timeout S]   all tests",
    },
    Command {
        name: "tidy",
        flags: &[],
        valued: &[],
        run: |_| tidy::tidy(),
        help: "the rules no compiler checks: layers, façades, budgets, unsafe, words",
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
    let ended = Options::parse(rest, command.flags, command.valued)
        .and_then(|options| (command.run)(&options))
        .and_then(|tally| tally.nonzero(name));
    match ended {
        Ok(tally) => {
            println!("{name}: {tally} in {}", seconds(start.elapsed()));
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
        println!("  {:<7} {}", command.name, command.help);
    }
}

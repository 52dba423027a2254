//! The checks, models and measurements of this repository, as one program.
//!
//! `cargo xtask` alone prints the commands. Every command prints how many tests or checks it
//! ran and fails at zero, so that an empty step cannot pass. The last line is `N passed, N failed`.
#![expect(
    clippy::disallowed_methods,
    reason = "a program of plain threads, outside the runtime"
)]

mod api;
mod bench;
mod bounds;
mod ci;
mod command;
mod compiler;
mod disturbance;
mod examples;
mod family;
mod features;
mod harness;
mod hung;
mod jobs;
mod markdown;
mod matrix;
mod model;
mod on_time;
mod options;
mod outcomes;
mod packages;
mod parallel;
mod prebuild;
mod processor;
mod programs;
mod promises;
mod repo;
mod rust_src;
mod sanitize;
mod source;
mod stress;
mod suite;
mod tally;
mod targets;
mod tidy;

use std::process::ExitCode;
use std::time::Instant;

use options::Options;
use sanitize::Sanitizer;
use tally::{Tally, seconds};

/// The commands, their options and what they do.
const USAGE: &str = include_str!("usage.txt");

/// The function of a command.
type Run = fn(&Options) -> Result<Tally, String>;

const COMMANDS: &[(&str, Run)] = &[
    ("test", suite::all),
    ("timing", suite::timing),
    ("ci", ci::ci),
    ("tidy", tidy::tidy),
    ("api", api::api),
    ("rows", promises::rows),
    ("model", model::model),
    ("stress", stress::stress),
    ("asan", |options| Sanitizer::Address.run(options)),
    ("tsan", |options| Sanitizer::Thread.run(options)),
    ("programs", programs::programs),
    ("crates", programs::crates),
    ("targets", targets::targets),
    ("matrix", matrix::matrix),
    ("packages", packages::packages),
    ("bench", bench::bench),
];

fn main() -> ExitCode {
    if let Some(ended) = compiler::as_wrapper() {
        return ended;
    }
    let args: Vec<_> = std::env::args().skip(1).collect();
    let Some((name, rest)) = args.split_first() else {
        print!("{USAGE}");
        return ExitCode::FAILURE;
    };
    let start = Instant::now();
    match run(name, rest) {
        Ok(tally) => {
            outcomes::print();
            println!("== {name}, {}: {tally}", seconds(start.elapsed()));
            println!("{} passed, {} failed", tally.passed, tally.failed);
            ExitCode::from(u8::from(!tally.is_green()))
        }
        Err(said) => {
            eprintln!("{name}: {said}");
            ExitCode::FAILURE
        }
    }
}

fn run(name: &str, args: &[String]) -> Result<Tally, String> {
    let command = COMMANDS.iter().find(|(known, _)| *known == name);
    let (_, command) = command.ok_or_else(|| format!("no such command\n{USAGE}"))?;
    let line = format!("  {name} ");
    let usage = USAGE.lines().find(|usage| usage.starts_with(&line));
    let options = Options::parse(args, usage.unwrap_or_default())?;
    command(&options)?.nonzero(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_usage() {
        for (name, _) in COMMANDS {
            let line = format!("  {name} ");
            let lines = USAGE.lines().filter(|usage| usage.starts_with(&line));
            assert_eq!(lines.count(), 1);
        }
    }
}

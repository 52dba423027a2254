//! `cargo xtask bench sim`: programs with a known bug each, in the runs of pirn-sim and of shuttle.
//!
//! The programs are one text over two preludes: those that the tests of pirn-sim search. The same
//! program is its own child: `sim search PROGRAM SEARCH CAMPAIGNS` prints for each campaign in
//! which run the bug was found; what failed runs leave behind ends with the child. `sim rates
//! PROGRAM RUNS` prints the schedules per second of each search, with the fixed program.
#![expect(clippy::duplicate_mod, reason = "one text over two preludes")]

use std::env;
use std::fmt::Write;
use std::process::{Command, ExitCode};
use std::time::Instant;

use clap::Parser;
use pirn_bench::base::{Machine, is_quiet, others, step};
use pirn_bench::report;
use pirn_sim::Strategy;

mod fibers;
mod threads;

/// Compares how soon pirn-sim and shuttle find known bugs, and how fast they run.
#[derive(Debug, Parser)]
struct Options {
    /// Only the programs with names that begin so.
    #[arg(long, default_value = "")]
    only: String,
    /// Number of campaigns of each search.
    #[arg(long, default_value_t = 10)]
    campaigns: u64,
    /// Number of runs of the fixed program in each of three rounds.
    #[arg(long, default_value_t = 7_000)]
    runs: u64,
    /// Writes the figures to bench/results/NAME.tsv as well, and bench/RESULTS.md anew.
    #[arg(long, value_name = "NAME")]
    save: Option<String>,
}

/// A library with one of its strategies.
enum Search {
    Fibers(Strategy),
    Threads(threads::Strategy),
}

const SEARCHES: [(&str, Search); 6] = [
    ("portfolio", Search::Fibers(Strategy::Portfolio)),
    ("random", Search::Fibers(Strategy::Random)),
    ("PCT 3", Search::Fibers(Strategy::Pct { depth: 3 })),
    ("delays 2", Search::Fibers(Strategy::Delays { most: 2 })),
    ("shuttle random", Search::Threads(threads::Strategy::Random)),
    ("shuttle PCT 3", Search::Threads(threads::Strategy::Pct(3))),
];

/// A campaign ends without a failure after so many times the runs within which the bug is to be
/// found.
const PATIENCE: u64 = 10;

/// Rounds of a rate; the best one counts.
const ROUNDS: u64 = 3;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["search", program, search, campaigns] => {
            search_in_child(program, search, number(campaigns))
        }
        ["rates", program, runs] => {
            rates_in_child(program, number(runs));
            Ok(())
        }
        _ => compare(&Options::parse()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("sim: {message}");
            ExitCode::FAILURE
        }
    }
}

fn number(text: &str) -> u64 {
    text.parse().expect("the parent passes numbers")
}

/// Searches all programs, prints the tables, and saves them if that is requested.
fn compare(options: &Options) -> Result<(), String> {
    let mut machine = Machine::here();
    machine.versions.retain(|it| it.starts_with("shuttle "));
    let noise = match others() {
        Some(most) if is_quiet(most) => format!("{most:.2} processors before the run"),
        most => format!("{most:.2?} processors before the run: NOT QUIET"),
    };
    eprintln!("other processes: {noise}");
    let campaigns = options.campaigns;
    let mut tables = [
        "median run in which the bug is found",
        "campaigns that find it within K",
        "thousand schedules/s, fixed program",
    ]
    .map(|title| {
        let names: Vec<_> = SEARCHES.iter().map(|(name, _)| *name).collect();
        format!("table\t{title}\tK\t{}\n", names.join("\t"))
    });
    let programs = fibers::ALL.iter();
    for program in programs.filter(|it| it.name.starts_with(&options.only)) {
        eprintln!("{}", program.name);
        for table in &mut tables {
            let _ = write!(table, "row\t{}\t{}", program.name, program.most);
        }
        for (search, _) in &SEARCHES {
            let count = campaigns.to_string();
            let found = child(&["search", program.name, search, &count])?;
            let found: Vec<_> = found.lines().map(number).collect();
            let within = found.iter().filter(|runs| **runs <= program.most).count();
            let _ = write!(tables[0], "\t{}", median(found, program.most * PATIENCE));
            let _ = write!(tables[1], "\t{within}");
        }
        let rates = child(&["rates", program.name, &options.runs.to_string()])?;
        for rate in rates.lines() {
            let _ = write!(tables[2], "\t{rate}");
        }
        tables.iter_mut().for_each(|table| table.push('\n'));
    }
    let mut facts = machine.facts();
    facts.push(("other processes", noise));
    facts.push(("repetitions", campaigns.to_string()));
    let mut file = String::new();
    for (name, value) in facts {
        let _ = writeln!(file, "head\t{name}\t{value}");
    }
    let _ = writeln!(
        file,
        "note\tAbsolute figures. {campaigns} campaigns of each strategy, which end at {PATIENCE} × K; \
         the columns without `shuttle` are pirn-sim's. Rates: the best of {ROUNDS} rounds of {} runs.",
        options.runs
    );
    tables.iter().for_each(|table| file.push_str(table));
    println!("{}", report::tables(&file));
    match &options.save {
        Some(name) => report::save(&file, name).map_err(|e| format!("{name}: {e}")),
        None => Ok(()),
    }
}

/// Runs this program with these arguments and returns its output.
fn child(arguments: &[&str]) -> Result<String, String> {
    let here = env::current_exe().map_err(|error| error.to_string())?;
    let said = step(Command::new(here).args(arguments));
    said.map_err(|message| format!("{}: {message}", arguments.join(" ")))
}

/// Returns the median as text; `most` is the number of a campaign that has found nothing.
fn median(mut found: Vec<u64>, most: u64) -> String {
    found.sort_unstable();
    match found.get(found.len() / 2) {
        Some(median) if *median <= most => median.to_string(),
        _ => format!("> {most}"),
    }
}

/// Prints for each campaign the number of the run that has failed, or one above the last.
fn search_in_child(name: &str, search: &str, campaigns: u64) -> Result<(), String> {
    let searches = SEARCHES.iter();
    let search = searches.into_iter().find(|(known, _)| *known == search);
    let (_, search) = search.ok_or("no such search")?;
    let most = fibers::program(name).most * PATIENCE;
    for campaign in 0..campaigns {
        let seed = campaign << 32;
        let found = match search {
            Search::Fibers(strategy) => {
                fibers::first_failure(*strategy, name, seed, PATIENCE)
            }
            Search::Threads(strategy) => {
                threads::first_failure(*strategy, name, seed, PATIENCE)
            }
        };
        println!("{}", found.unwrap_or(most + 1));
    }
    Ok(())
}

/// Prints for each search the thousands of schedules per second. The searches take turns.
fn rates_in_child(name: &str, runs: u64) {
    let mut best = SEARCHES.map(|_| f64::MAX);
    for round in 0..ROUNDS {
        for ((_, search), best) in SEARCHES.iter().zip(&mut best) {
            let seed = round << 32;
            let begun = Instant::now();
            match search {
                Search::Fibers(strategy) => fibers::pass(*strategy, name, seed, runs),
                Search::Threads(strategy) => threads::pass(*strategy, name, seed, runs),
            }
            *best = best.min(begun.elapsed().as_secs_f64());
        }
    }
    for best in best {
        println!("{:.1}", runs as f64 / best / 1000.0);
    }
}

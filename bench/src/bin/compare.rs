//! Prints pirn and its peers side by side: medians, percentiles, ratios, targets, floors.
//!
//! The same program is its own child: `compare child PEER CASE …` runs one case of one
//! peer and prints its samples.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use pirn_bench::case::{self, Case};
use pirn_bench::child::{Job, Skip};
use pirn_bench::floors;
use pirn_bench::gzip;
use pirn_bench::harness::{self, Machine, Plan, Programs};
use pirn_bench::net;
use pirn_bench::peers::{self, Peer, Program};
use pirn_bench::report::{self, Sheet};
use pirn_bench::tools;

/// Runs pirn and its peers in turn and prints how they compare.
#[derive(Debug, Parser)]
struct Options {
    /// Only these cases, as listed by --list; a name ending in * stands for all that begin so.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only these peers.
    #[arg(long, value_delimiter = ',')]
    peers: Vec<String>,
    /// How often each case of each peer runs.
    #[arg(long, default_value_t = 5)]
    reps: usize,
    /// Rounds of a tenth the size: a look, not a result.
    #[arg(long)]
    quick: bool,
    /// Markdown instead of aligned text.
    #[arg(long)]
    markdown: bool,
    /// Writes everything to this file as well.
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// Writes the verdicts on pirn's targets to this file.
    #[arg(long, value_name = "FILE")]
    verdicts: Option<String>,
    /// Prints the names of cases and peers and ends.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "child") {
        return child(&arguments[1..]);
    }
    let options = Options::parse();
    if options.list {
        list();
        return ExitCode::SUCCESS;
    }
    match compare(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("compare: {message}");
            ExitCode::FAILURE
        }
    }
}

fn compare(options: &Options) -> Result<(), String> {
    let plan = Plan {
        cases: chosen(&options.only, case::table(), |case| case.name)?,
        peers: chosen(&options.peers, peers::all(), |peer| peer.name)?,
        repetitions: options.reps,
        quick: options.quick,
    };
    let mut machine = Machine::here();
    let programs = prepare(&plan);
    machine.versions.extend(tools::versions(&programs));
    let results = harness::run(&plan, &programs, |line| eprintln!("{line}"));
    let sheet = Sheet::new(&plan, &results, machine);
    let page = match options.markdown {
        true => report::markdown(&sheet),
        false => report::text(&sheet),
    };
    println!("{page}");
    if let Some(path) = &options.json {
        fs::write(path, report::json(&sheet))
            .map_err(|error| format!("{path}: {error}"))?;
    }
    if let Some(path) = &options.verdicts {
        let (lines, reasons) = report::verdicts(&sheet, &missing(&plan, &programs));
        for reason in reasons {
            eprintln!("no verdict: {reason}");
        }
        fs::write(path, lines.join("\n")).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}

/// Returns the peers that were not requested, or are not available.
fn missing(plan: &Plan, programs: &Programs) -> Vec<&'static str> {
    let ran = |peer: &Peer| {
        plan.peers.iter().any(|asked| asked.name == peer.name)
            && match peer.program {
                Program::Go => programs.go.is_ok(),
                Program::Boost => programs.boost.is_ok(),
                _ => true,
            }
    };
    let all = peers::all().iter();
    all.filter(|peer| !ran(peer))
        .map(|peer| peer.name)
        .collect()
}

/// Fetches and builds the peers of the plan, and reports unavailable ones.
fn prepare(plan: &Plan) -> Programs {
    let wants = |test: fn(&Peer) -> bool| plan.peers.iter().any(|peer| test(peer));
    let build = |name: &str, wanted: bool, how: fn() -> Result<PathBuf, String>| {
        if !wanted {
            return Err("not asked for".to_owned());
        }
        eprintln!("building: {name}");
        how().inspect_err(|reason| eprintln!("without {name}: {reason}"))
    };
    let pgz_wanted = plan.cases.iter().any(|case| case.kind.is_gzip());
    Programs {
        here: env::current_exe().expect("a running program has a path"),
        go: build(
            "go",
            wants(|peer| matches!(peer.program, Program::Go)),
            tools::go,
        ),
        boost: build(
            "boost",
            wants(|peer| matches!(peer.program, Program::Boost)),
            tools::boost,
        ),
        pgz: match pgz_wanted {
            true => gzip::Setup::prepare()
                .inspect_err(|reason| eprintln!("without pgz: {reason}")),
            false => Err("not asked for".to_owned()),
        },
    }
}

/// The entries of `all` that `names` choose, or all if there are none.
fn chosen<T>(
    names: &[String],
    all: &'static [T],
    name_of: fn(&T) -> &'static str,
) -> Result<Vec<&'static T>, String> {
    let fits = |name: &str, pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    };
    for pattern in names {
        if !all.iter().any(|entry| fits(name_of(entry), pattern)) {
            return Err(format!("nothing is called `{pattern}`; see --list"));
        }
    }
    let wanted = |entry: &&T| {
        names.is_empty() || names.iter().any(|pattern| fits(name_of(entry), pattern))
    };
    Ok(all.iter().filter(wanted).collect())
}

fn list() {
    println!("cases:");
    for Case { name, title, .. } in case::table() {
        println!("  {name:<18} {title}");
    }
    println!("peers:");
    for Peer { name, note, .. } in peers::all() {
        println!("  {name:<18} {note}");
    }
}

/// Ends a child with an error message.
fn spoken(name: &str, outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{name}: {message}");
            ExitCode::FAILURE
        }
    }
}

fn child(arguments: &[String]) -> ExitCode {
    match arguments {
        [what] if what == "floors" => floors::run(),
        [what, rest @ ..] if what == "gzip" => {
            return spoken("gzip", gzip::child(rest));
        }
        [what, rest @ ..] if what == "serve" => {
            return spoken("serve", net::serve_child(rest));
        }
        [what, rest @ ..] if what == "load" => {
            return spoken("load", net::load_child(rest));
        }
        [name, job @ ..] => {
            let peer = peers::all().iter().find(|peer| peer.name == name);
            let (
                Some(Peer {
                    program: Program::Here(run),
                    ..
                }),
                Some(job),
            ) = (peer, Job::parse(job))
            else {
                eprintln!("no such child: {}", arguments.join(" "));
                return ExitCode::FAILURE;
            };
            if let Err(Skip(reason)) = run(&job) {
                println!("skip {reason}");
            }
        }
        [] => {
            eprintln!("compare child PEER CASE WORKERS N WARMUPS ROUNDS STACK");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

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
    /// Writes the figures to bench/results/NAME.tsv as well, and bench/RESULTS.md anew.
    #[arg(long, value_name = "NAME")]
    save: Option<String>,
    /// Writes bench/RESULTS.md from the files of bench/results and ends.
    #[arg(long)]
    page: bool,
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
    let outcome = if options.list {
        list();
        Ok(())
    } else if options.page {
        report::write_page().map_err(|error| error.to_string())
    } else {
        compare(&options)
    };
    spoken("compare", outcome)
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
    println!("{}", report::report(&sheet, options.markdown));
    if let Some(path) = &options.json {
        let json = serde_json::to_string_pretty(&sheet).expect("a sheet is plain data");
        fs::write(path, json).map_err(|error| format!("{path}: {error}"))?;
    }
    if let Some(name) = &options.save {
        report::save(&report::records(&sheet), name)
            .map_err(|error| format!("{name}: {error}"))?;
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
    let build = |name: &str, wanted: bool, how: fn() -> Result<PathBuf, String>| {
        if !wanted {
            return Err("not asked for".to_owned());
        }
        eprintln!("building: {name}");
        how().inspect_err(|reason| eprintln!("without {name}: {reason}"))
    };
    let wants = |fits: fn(&Peer) -> bool| plan.peers.iter().any(|peer| fits(peer));
    let go = wants(|peer| matches!(peer.program, Program::Go));
    let boost = wants(|peer| matches!(peer.program, Program::Boost));
    let serves = |peer: &Peer| plan.cases.iter().any(|case| peer.fits(case));
    let hooked = plan
        .peers
        .iter()
        .any(|peer| peer.name == peers::STD && serves(peer));
    Programs {
        here: env::current_exe().expect("a running program has a path"),
        go: build("go", go, tools::go),
        hooked: build("hooked", hooked, tools::hooked),
        boost: build("boost", boost, tools::boost),
        pgz: match plan.cases.iter().any(|case| case.job.kind.is_gzip()) {
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

/// Ends the program or a child, with an error message if there is one.
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
    let [what, rest @ ..] = arguments else {
        return spoken("compare child", Err("say which".to_owned()));
    };
    let outcome = match what.as_str() {
        "floors" => {
            floors::run();
            Ok(())
        }
        "gzip" => gzip::child(rest),
        "serve" => net::serve_child(rest),
        "load" => net::load_child(rest),
        peer => case_of(peer, rest),
    };
    spoken(what, outcome)
}

/// Runs `compare child PEER CASE WORKERS N WARMUPS ROUNDS STACK`.
fn case_of(name: &str, job: &[String]) -> Result<(), String> {
    let peer = peers::all().iter().find(|peer| peer.name == name);
    let program = peer.map(|peer| peer.program);
    let (Some(Program::Here(run)), Some(job)) = (program, Job::parse(job)) else {
        return Err(format!("no such child: {}", job.join(" ")));
    };
    if let Err(Skip(reason)) = run(&job) {
        println!("skip {reason}");
    }
    Ok(())
}

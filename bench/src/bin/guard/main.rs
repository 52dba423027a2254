//! Guards against regressions: instructions for one operation against the repository's baseline,
//! and wall time against earlier runs on this machine.
//!
//! The same program is its own child: `guard child OPERATION N` repeats one operation under
//! callgrind, `guard child OPERATION wall MICROSECONDS` times it.

mod clock;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use pirn_bench::base::sample;
use pirn_bench::guard::{self, Cost, Operation, Verdict, WallLine};

/// Counts instructions for one operation and fails above 5 % more than accepted.
#[derive(Debug, Parser)]
struct Options {
    /// Only these operations.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Accepts what is counted now as the baseline, for this reason.
    #[arg(long, value_name = "REASON")]
    bless: Option<String>,
    /// Times instead of counting, and reports what is 20 % slower than usual here.
    #[arg(long, conflicts_with = "bless")]
    wall: bool,
    /// Counts here and in this other build of the guard, which has nothing that is there for
    /// reports only, and fails where this one needs more than 2 % more (8 % for a rendezvous).
    #[arg(long, value_name = "GUARD", conflicts_with_all = ["bless", "wall"])]
    against: Option<PathBuf>,
    /// Writes the verdicts to this file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["bless", "wall"])]
    verdicts: Option<PathBuf>,
    /// Times as with --wall, then again with a sleep in every round; fails unless the
    /// report finds every operation slower.
    #[arg(long, conflicts_with_all = ["bless", "wall"])]
    inject_sleep: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "child") {
        return child(&arguments[1..]);
    }
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("guard: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let find =
        |name: &String| guard::find(name).ok_or_else(|| format!("no operation `{name}`"));
    let operations: Vec<_> = match &options.only[..] {
        [] => guard::operations().iter().collect(),
        names => names.iter().map(find).collect::<Result<_, _>>()?,
    };
    if options.inject_sleep {
        self_test(&operations)
    } else if options.wall {
        report(&guard::wall(&operations)?);
        Ok(())
    } else if let Some(bare) = &options.against {
        against(&operations, bare, options.verdicts.as_deref())
    } else {
        instructions(&operations, options)
    }
}

fn instructions(
    operations: &[&'static Operation],
    options: &Options,
) -> Result<(), String> {
    let verdicts = guard::check(operations)?;
    let lines = verdicts.iter().filter_map(Verdict::line);
    write(options.verdicts.as_deref(), lines)?;
    println!("instructions for one operation");
    for verdict in &verdicts {
        let Verdict { name, now, .. } = verdict;
        let words = match (verdict.change(), verdict.accepted) {
            (Some(change), Some(accepted)) => {
                let fate = too_many(verdict.fails());
                format!("{:+.3} % of {accepted:.3}{fate}", change * 100.0)
            }
            _ => "never accepted".to_owned(),
        };
        println!("  {name:<12} {now:>12.3}  {words}");
    }
    if let Some(reason) = &options.bless {
        guard::bless(&verdicts, reason)?;
        println!("accepted as the baseline: {reason}");
        return Ok(());
    }
    let failed = verdicts.iter().filter(|verdict| verdict.fails());
    none_of(
        failed.map(|verdict| verdict.name),
        "accept with --bless REASON if this is meant: too many instructions",
    )?;
    println!("{} operations within 5 % of the baseline", verdicts.len());
    Ok(())
}

/// Fails if there are names, with them and the reason.
fn none_of<'a>(names: impl Iterator<Item = &'a str>, what: &str) -> Result<(), String> {
    let names: Vec<_> = names.collect();
    match names[..] {
        [] => Ok(()),
        _ => Err(format!("{what}: {}", names.join(", "))),
    }
}

fn too_many(fails: bool) -> &'static str {
    if fails { "  TOO MANY" } else { "" }
}

/// Writes the lines of verdicts, if a file is named.
fn write(path: Option<&Path>, lines: impl Iterator<Item = String>) -> Result<(), String> {
    let Some(path) = path else {
        return Ok(());
    };
    let lines: Vec<_> = lines.collect();
    fs::write(path, lines.join("\n")).map_err(|e| format!("{}: {e}", path.display()))
}

fn against(
    operations: &[&'static Operation],
    bare: &Path,
    lines: Option<&Path>,
) -> Result<(), String> {
    println!(
        "instructions for one operation, with and without what is there for reports"
    );
    let costs = guard::costs(operations, bare)?;
    write(lines, costs.iter().filter_map(Cost::line))?;
    for cost in &costs {
        let (added, fate) = (cost.added() * 100.0, too_many(cost.fails()));
        let Cost {
            operation,
            mode,
            full,
            bare,
            ..
        } = cost;
        println!(
            "  {operation:<12} {mode:<22} {full:>10.3} {bare:>10.3}  {added:+.2} %{fate}"
        );
    }
    let failed = costs.iter().filter(|cost| cost.fails());
    none_of(failed.map(|cost| cost.operation), "too many instructions")
}

fn self_test(operations: &[&'static Operation]) -> Result<(), String> {
    report(&guard::wall(operations)?);
    println!("with a sleep in every round");
    let lines = guard::inject(operations)?;
    report(&lines);
    let missed = lines.iter().filter(|line| !line.slower());
    none_of(missed.map(|line| line.name), "THE GUARD IS BLIND to")?;
    let count = lines.len();
    println!("the guard works: it found {count} of {count} slower");
    Ok(())
}

fn report(lines: &[WallLine]) {
    println!("nanoseconds for one operation (median; usual here)");
    for line in lines {
        let usual = line
            .usual
            .map_or("-".to_owned(), |usual| format!("{usual:.1}"));
        let fate = match line.slower() {
            true => "  SLOWER than usual by more than 20 %",
            false => "",
        };
        let (name, now) = (line.name, line.now.median);
        println!("  {name:<12} {now:>10.1} {usual:>10}{fate}");
    }
}

fn child(arguments: &[String]) -> ExitCode {
    let number = |text: &String| text.parse().expect("a number");
    match arguments {
        [name, mode, micros] if mode == "wall" => {
            let operation = guard::find(name).expect("the parent names an operation");
            let injected = Duration::from_micros(number(micros));
            for nanos in operation.time(10, 20_000, injected) {
                sample("op", nanos);
            }
        }
        [name, times] => {
            let operation = guard::find(name).expect("the parent names an operation");
            clock::hold_steady();
            operation.repeat(number(times));
        }
        _ => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}

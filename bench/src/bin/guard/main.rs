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
    let options = Options::parse();
    let outcome = chosen(&options.only).and_then(|operations| {
        if options.inject_sleep {
            self_test(&operations)
        } else if let Some(bare) = &options.against {
            against(&operations, bare, options.verdicts.as_deref())
        } else if options.wall {
            wall(&operations)
        } else {
            instructions(
                &operations,
                options.bless.as_deref(),
                options.verdicts.as_deref(),
            )
        }
    });
    match outcome {
        Ok(code) => code,
        Err(message) => {
            eprintln!("guard: {message}");
            ExitCode::FAILURE
        }
    }
}

fn chosen(names: &[String]) -> Result<Vec<&'static Operation>, String> {
    if names.is_empty() {
        return Ok(guard::operations().iter().collect());
    }
    let find =
        |name: &String| guard::find(name).ok_or_else(|| format!("no operation `{name}`"));
    names.iter().map(find).collect()
}

fn instructions(
    operations: &[&'static Operation],
    reason: Option<&str>,
    lines: Option<&Path>,
) -> Result<ExitCode, String> {
    let verdicts = guard::check(operations)?;
    write(lines, verdicts.iter().filter_map(Verdict::line))?;
    println!("instructions for one operation");
    for verdict in &verdicts {
        println!(
            "  {:<12} {:>12.3}  {}",
            verdict.name,
            verdict.now,
            words(verdict)
        );
    }
    if let Some(reason) = reason {
        guard::bless(&verdicts, reason)?;
        println!("accepted as the baseline: {reason}");
        return Ok(ExitCode::SUCCESS);
    }
    let failed: Vec<_> = verdicts
        .iter()
        .filter(|verdict| verdict.fails())
        .map(|verdict| verdict.name)
        .collect();
    if failed.is_empty() {
        println!("{} operations within 5 % of the baseline", verdicts.len());
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "FAILED: {}; accept with --bless REASON if this is meant",
        failed.join(", ")
    );
    Ok(ExitCode::FAILURE)
}

/// Writes the lines of verdicts, if a file is named.
fn write(path: Option<&Path>, lines: impl Iterator<Item = String>) -> Result<(), String> {
    let Some(path) = path else {
        return Ok(());
    };
    let lines: Vec<_> = lines.collect();
    fs::write(path, lines.join("\n")).map_err(|e| format!("{}: {e}", path.display()))
}

fn words(verdict: &Verdict) -> String {
    match (verdict.change(), verdict.accepted) {
        (Some(change), Some(accepted)) => {
            let fate = if verdict.fails() { "  TOO MANY" } else { "" };
            format!("{:+.3} % of {accepted:.3}{fate}", change * 100.0)
        }
        _ => "never accepted".to_owned(),
    }
}

fn wall(operations: &[&'static Operation]) -> Result<ExitCode, String> {
    report(&guard::wall(operations)?);
    Ok(ExitCode::SUCCESS)
}

fn against(
    operations: &[&'static Operation],
    bare: &Path,
    lines: Option<&Path>,
) -> Result<ExitCode, String> {
    println!(
        "instructions for one operation, with and without what is there for reports"
    );
    let costs = guard::costs(operations, bare)?;
    write(lines, costs.iter().filter_map(Cost::line))?;
    for cost in &costs {
        println!(
            "  {:<12} {:<22} {:>10.3} {:>10.3}  {:+.2} %{}",
            cost.operation,
            cost.mode,
            cost.full,
            cost.bare,
            cost.added() * 100.0,
            if cost.fails() { "  TOO MANY" } else { "" }
        );
    }
    Ok(if costs.iter().any(Cost::fails) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn self_test(operations: &[&'static Operation]) -> Result<ExitCode, String> {
    report(&guard::wall(operations)?);
    println!("with a sleep in every round");
    let lines = guard::inject(operations)?;
    report(&lines);
    let missed: Vec<_> = lines
        .iter()
        .filter(|line| !line.slower())
        .map(|line| line.name)
        .collect();
    if missed.is_empty() {
        println!(
            "the guard works: it found {} of {} slower",
            lines.len(),
            lines.len()
        );
        return Ok(ExitCode::SUCCESS);
    }
    println!("THE GUARD IS BLIND to: {}", missed.join(", "));
    Ok(ExitCode::FAILURE)
}

fn report(lines: &[WallLine]) {
    println!("nanoseconds for one operation (median; usual here)");
    for line in lines {
        let usual = line
            .usual
            .map_or("-".to_owned(), |usual| format!("{usual:.1}"));
        let fate = if line.slower() {
            "  SLOWER than usual by more than 20 %"
        } else {
            ""
        };
        println!(
            "  {:<12} {:>10.1} {usual:>10}{fate}",
            line.name, line.now.median
        );
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

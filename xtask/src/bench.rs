//! `cargo xtask bench`: hands over to the programs in bench/, which is a workspace of its own
//! so that the peers it measures stay out of the library's lock file.
//!
//! `compare` prints pirn and its peers side by side, `echo` only their servers, `fork` only
//! fork-join, `tails` only the cases of tails; `guard` compares instruction counts
//! with the baseline in the repository; `cost` compares them with those of a build without
//! anything that is there for reports only. `redis` is about a program, and in `redis.rs`.
//!
//! Each writes its verdicts into bench/BOUNDS.md; a timed one needs seven repetitions for that, all peers
//! of the bound, and a quiet machine.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::bounds;
use crate::command;
use crate::harness::{Build, Run, cases, run};
use crate::options::Options;
use crate::redis;
use crate::repo;
use crate::tally::Tally;

/// Runs `compare`, its cases of servers, of fork-join or of tails, or `guard` with the arguments that follow.
///
/// # Errors
/// When the program is not named, or fails.
pub(crate) fn bench(options: &Options) -> Result<Tally, String> {
    let (program, args) = match options.words.split_first() {
        Some((name, args)) if matches!(name.as_str(), "compare" | "guard") => {
            (name.as_str(), args.to_vec())
        }
        Some((name, args)) if name == "echo" => ("compare", echo(args)),
        Some((name, args)) if name == "fork" => ("compare", only("fork-*", args)),
        Some((name, args)) if name == "tails" => ("compare", only("tail-*", args)),
        Some((name, args)) if name == "cost" => return cost(args),
        Some((name, args)) if name == "redis" => return redis::compare(args),
        _ => {
            let which = "say which: `bench compare`, `echo`, `fork`, `tails`, `redis`, `guard` or `cost …`";
            return Err(which.to_owned());
        }
    };
    let mut cargo = command::cargo();
    cargo.args(["run", "--quiet", "--release", "--manifest-path"]);
    cargo.arg(repo::root().join("bench/Cargo.toml"));
    cargo.args(["--bin", program, "--"]).args(&args);
    if args
        .iter()
        .any(|arg| UNJUDGED.iter().any(|name| arg.starts_with(name)))
    {
        command::run(&mut cargo)?;
        return Ok(Tally::PASS);
    }
    judged(&mut cargo)
}

/// Options with which the programs give no verdicts.
const UNJUDGED: [&str; 4] = ["--list", "--bless", "--wall", "--inject-sleep"];

/// Runs one of the programs and writes down its verdicts, also when it fails by them.
fn judged(program: &mut Command) -> Result<Tally, String> {
    bounds::read()?;
    let verdicts = repo::target(None).join("verdicts");
    fs::write(&verdicts, "").map_err(|e| format!("{}: {e}", verdicts.display()))?;
    program.arg("--verdicts").arg(&verdicts);
    let ended = command::run(program);
    let lines = fs::read_to_string(&verdicts);
    bounds::record(&lines.map_err(|e| format!("{}: {e}", verdicts.display()))?)?;
    ended.map(|()| Tally::PASS)
}

/// The arguments with which `compare` runs the cases of servers, ten times unless it is told
/// otherwise.
fn echo(args: &[String]) -> Vec<String> {
    let mut all = vec!["--only".to_owned(), "echo-*,http-*,idle".to_owned()];
    if !args.iter().any(|arg| arg.starts_with("--reps")) {
        all.extend(["--reps".to_owned(), "10".to_owned()]);
    }
    all.extend_from_slice(args);
    all
}

/// The arguments with which `compare` runs the cases of these names.
fn only(names: &str, args: &[String]) -> Vec<String> {
    let mut all = vec!["--only".to_owned(), names.to_owned()];
    all.extend_from_slice(args);
    all
}

/// Builds the guard twice and has the one compare itself with the other.
fn cost(args: &[String]) -> Result<Tally, String> {
    let full = guard(None, "")?;
    let bare = guard(Some("bare"), "-Awarnings --cfg pirn_bare")?;
    let mut compare = command::program(full);
    compare.arg("--against").arg(bare).args(args);
    judged(&mut compare)
}

/// Builds the guard with these flags for every crate; returns where it lies.
fn guard(lane: Option<&str>, rustflags: &str) -> Result<PathBuf, String> {
    let target = repo::target(lane);
    let mut cargo = command::cargo();
    cargo.args(["build", "--quiet", "--release", "--bin", "guard"]);
    cargo
        .arg("--manifest-path")
        .arg(repo::root().join("bench/Cargo.toml"));
    cargo
        .env("CARGO_TARGET_DIR", &target)
        .env("RUSTFLAGS", rustflags);
    command::run(&mut cargo)?;
    Ok(target.join("release/guard"))
}

/// The benches' own tests: statistics, verdicts, the guard's judgement.
///
/// # Errors
/// When they do not build, or nothing ran.
pub(crate) fn tests() -> Result<Tally, String> {
    let (tally, _) = run(&cases(&tests_build().binaries()?)?, Run::default())?;
    println!("    tests of the benches: {tally}");
    tally.nonzero("tests of the benches")
}

/// The build that [`tests`] runs.
pub(crate) fn tests_build() -> Build {
    let manifest = repo::root().join("bench/Cargo.toml").display().to_string();
    let build = Build::new(&["--manifest-path", &manifest]);
    build.lane("bench", "").debug("none")
}

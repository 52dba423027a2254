//! `cargo xtask bench`: runs the programs in bench/, which is a separate workspace so that the
//! measured peers stay out of the library's lock file.
//!
//! `compare` prints pirn and its peers side by side, `echo` only their servers, `fork` only
//! fork-join, `tails` only the cases of tails; `guard` compares instruction counts
//! with the baseline in the repository; `cost` compares them with those of a build without the code
//! for reports. `redis` compares the program `kv` with redis-server. These three are built without
//! the peers. `sim` searches known bugs with pirn-sim and with shuttle, and gives no verdicts.
//!
//! Each writes its verdicts into bench/BOUNDS.md; a timed one needs seven repetitions for that, all
//! peers of the bound, and a quiet machine. The steps `guard` and `cost` of `ci` judge by the same
//! rules and write nothing: CI must not change the tree that it checks.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::harness::{Run, cases, run};
use crate::options::Options;
use crate::tally::Tally;
use crate::{bounds, command, jobs, outcomes, repo};

/// Tests that run cases of `compare` with every library, a minute together. They prove no promise;
/// `cargo test --manifest-path bench/Cargo.toml` runs them.
const LONG: [&str; 2] = [
    "cases::every_library_fills_every_row_of_tails",
    "cases::every_library_has_or_skips_every_other_case",
];

/// Names for `compare` with its first arguments.
const COMPARISONS: [(&str, &[&str]); 4] = [
    ("compare", &[]),
    ("echo", &["--only", "echo-*,http-*,idle"]),
    ("fork", &["--only", "fork-*"]),
    ("tails", &["--only", "tail-*"]),
];

/// Runs `compare`, its cases of servers, of fork-join or of tails, or `guard`, with the following
/// arguments.
///
/// # Errors
/// When the program is not named, or fails.
pub(crate) fn bench(options: &Options) -> Result<Tally, String> {
    let (name, args) = options.words.split_first().unzip();
    let (name, args) = (name.map_or("", String::as_str), args.unwrap_or_default());
    match name {
        "guard" => return judged_unless_asked(guard()?.args(args), args),
        "cost" => return judged(cost()?.args(args)),
        "redis" => return judged(redis()?.args(args)),
        "sim" => {
            let ended = command::run(beside_peers("sim").args(args));
            return ended.map(|()| Tally::check(true));
        }
        _ => {}
    }
    let Some((_, first)) = COMPARISONS.iter().find(|(known, _)| *known == name) else {
        return Err(
            "name one: `bench compare`, `echo`, `fork`, `tails`, `redis`, `sim`, `guard` or `cost`"
                .to_owned(),
        );
    };
    let mut compare = beside_peers("compare");
    compare.args(*first);
    if name == "echo" && !args.iter().any(|arg| arg.starts_with("--reps")) {
        compare.args(["--reps", "10"]);
    }
    judged_unless_asked(compare.args(args), args)
}

/// Builds and runs a program of bench/ that needs the peers.
fn beside_peers(name: &str) -> Command {
    let run = "run --quiet --release --manifest-path bench/Cargo.toml --bin";
    command::cargo(&format!("{run} {name} --"))
}

/// Options with which the programs give no verdicts.
const UNJUDGED: [&str; 5] = ["--list", "--page", "--bless", "--wall", "--inject-sleep"];

/// Runs one of the programs, and records its verdicts unless `args` request something else.
fn judged_unless_asked(program: &mut Command, args: &[String]) -> Result<Tally, String> {
    let is_unjudged = |arg: &String| UNJUDGED.iter().any(|name| arg.starts_with(name));
    if args.iter().any(is_unjudged) {
        return command::run(program).map(|()| Tally::check(true));
    }
    judged(program)
}

/// Runs one of the programs and records its verdicts, also when it fails by them.
fn judged(program: &mut Command) -> Result<Tally, String> {
    bounds::read()?;
    let (ended, lines) = verdicts_of(program)?;
    bounds::record(&lines)?;
    ended.map(|()| Tally::check(true))
}

/// The program's exit status, and its verdicts, one a line.
fn verdicts_of(program: &mut Command) -> Result<(Result<(), String>, String), String> {
    let path = repo::target(None).join("verdicts");
    let failed = |e| format!("{}: {e}", path.display());
    fs::write(&path, "").map_err(failed)?;
    let ended = command::run(program.arg("--verdicts").arg(&path));
    Ok((ended, fs::read_to_string(&path).map_err(failed)?))
}

/// A step of `ci`: counts the verdicts of a program that counts instructions, and records none.
///
/// # Errors
/// When the program does not build, or cannot count.
pub(crate) fn step(
    name: &str,
    program: fn() -> Result<Command, String>,
) -> Result<Tally, String> {
    if !command::exists("valgrind") {
        return Ok(outcomes::skip_check(name, "no valgrind on this machine"));
    }
    let (ended, lines) = verdicts_of(&mut program()?)?;
    tally(name, ended, &lines)
}

/// Returns the verdicts as a tally. If the program failed without a failed verdict, that is an
/// error.
fn tally(name: &str, ended: Result<(), String>, lines: &str) -> Result<Tally, String> {
    let count = |verdict: &str| {
        let has = |line: &&str| line.split('\t').nth(3) == Some(verdict);
        lines.lines().filter(has).count()
    };
    let tally = Tally {
        passed: count("KEPT"),
        failed: count("MISSED"),
        ..Tally::default()
    };
    match ended {
        Err(said) if tally.failed == 0 => Err(said),
        _ => tally.nonzero(name),
    }
}

/// Builds the guard, which fails if an operation needs more than 5 % more instructions than in the
/// repository's baseline.
///
/// # Errors
/// When it does not build.
pub(crate) fn guard() -> Result<Command, String> {
    build_guard(false)
}

/// Builds the guard twice, so that it compares itself with the build without code for reports.
///
/// # Errors
/// When it does not build.
pub(crate) fn cost() -> Result<Command, String> {
    let mut compare = guard()?;
    compare
        .arg("--against")
        .arg(build_guard(true)?.get_program());
    Ok(compare)
}

/// Builds the program `kv`, and the comparison with redis-server.
fn redis() -> Result<Command, String> {
    let target = repo::target(Some("programs"));
    let kv = release("programs", "kv", target, "", "")?;
    let mut compare = release("bench", "redis", repo::target(None), ALONE, "")?;
    compare.arg("--kv").arg(kv.get_program());
    Ok(compare)
}

/// For a program without the peers.
const ALONE: &str = "--no-default-features";

/// Builds the guard and, if it is `bare`, without the code for reports; returns its command.
///
/// # Errors
/// When it does not build.
pub(crate) fn build_guard(bare: bool) -> Result<Command, String> {
    let (folder, flags) = match bare {
        false => (None, ""),
        true => (Some("bare"), "-Awarnings --cfg pirn_bare"),
    };
    release("bench", "guard", repo::target(folder), ALONE, flags)
}

/// Builds a program of another workspace, optimised; returns its command.
fn release(
    workspace: &str,
    name: &str,
    target: PathBuf,
    features: &str,
    flags: &str,
) -> Result<Command, String> {
    let mut cargo = command::cargo("build --quiet --release --bin");
    cargo.arg(name).args(features.split_whitespace());
    cargo.args(["--manifest-path", &format!("{workspace}/Cargo.toml")]);
    cargo.env("CARGO_TARGET_DIR", &target);
    command::run(cargo.env("RUSTFLAGS", flags))?;
    Ok(command::program(target.join("release").join(name)))
}

/// Runs the benches' own tests: statistics, verdicts, the guard's judgement. A quick run leaves out
/// those that take long.
///
/// # Errors
/// When they do not build, or nothing ran.
pub(crate) fn tests(options: &Options) -> Result<Tally, String> {
    let mut chosen = cases(&jobs::build("bench")?)?;
    chosen.retain(|case| !options.has("quick") || !LONG.contains(&case.name.as_str()));
    let (tally, _) = run(&chosen, Run::default())?;
    println!("    tests of the benches: {tally}");
    tally.nonzero("tests of the benches")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: &str = "guard\tyield\t≤ 1.05 × baseline.json\tKEPT\t0.950";
    const MISSED: &str = "guard\tmutex\t≤ 1.05 × baseline.json\tMISSED\t1.200";

    fn failed() -> Result<(), String> {
        Err("`guard`: exit status: 1".to_owned())
    }

    #[test]
    fn a_missed_bound_is_a_failure_of_the_step() {
        let tally = tally("guard", failed(), &[KEPT, MISSED, KEPT].join("\n")).unwrap();
        assert_eq!((tally.passed, tally.failed), (2, 1));
        assert!(!tally.is_green());
    }

    #[test]
    fn bounds_that_are_kept_pass() {
        let tally = tally("guard", Ok(()), KEPT).unwrap();
        assert!(tally.is_green() && tally.passed == 1);
    }

    #[test]
    fn a_guard_that_fails_without_a_verdict_is_an_error() {
        assert!(tally("guard", failed(), KEPT).is_err());
        assert!(tally("guard", Ok(()), "").is_err());
    }
}

//! `cargo xtask ci`: all checks before a change is merged.
//!
//! Each step prints the number of tests or checks, its duration and its processor time, and fails
//! if it ran none. A failing step does not stop the later ones: all run, and the last line is a
//! summary.

use std::time::Instant;

use crate::bench;
use crate::command;
use crate::examples;
use crate::model;
use crate::options::Options;
use crate::prebuild::{self, Prebuild};
use crate::processor;
use crate::programs;
use crate::promises;
use crate::sanitize;
use crate::skips;
use crate::stress;
use crate::suite;
use crate::tally::{Tally, seconds};
use crate::targets;
use crate::tidy;

/// A step: its name and its function.
type Step = (&'static str, fn() -> Result<Tally, String>);

const STEPS: &[Step] = &[
    ("fmt", fmt),
    ("clippy", clippy),
    ("tidy", tidy::tidy),
    ("test", || suite::unit_and_integration(&Options::default())),
    ("fat", || suite::fat(&Options::default())),
    ("portable", || suite::portable(&Options::default())),
    ("free", || suite::free(&Options::default())),
    ("checked", || suite::checked(&Options::default())),
    ("programs", || programs::programs(&Options::default())),
    ("doctest", suite::doc),
    ("rustdoc", rustdoc),
    ("examples", examples::examples),
    ("model", || model::engines(&quick())),
    ("shuttle", || model::shuttle(&quick())),
    ("mutants", || model::mutants(&quick())),
    ("bench", bench::tests),
    ("rows", || promises::rows(&Options::flag("names"))),
    ("asan", || sanitize::asan(&quick())),
    ("tsan", || sanitize::tsan(&quick())),
    ("guard", bench::guard_step),
    ("cost", bench::cost_step),
    ("targets", || targets::targets(&Options::default())),
    ("timing", || suite::timing(&Options::default())),
    ("stress", || stress::stress(&Options::default())),
    ("deny", deny),
];

/// The steps with builds that can run in parallel, the longest builds first.
const AHEAD: &[Prebuild] = &[
    ("test", || suite::workspace_build().ahead()),
    ("tsan", || drop(sanitize::tsan_build().map(|b| b.ahead()))),
    ("programs", || programs::build().ahead()),
    ("shuttle", || model::shuttle_build().ahead()),
    ("asan", || drop(sanitize::asan_build().map(|b| b.ahead()))),
    ("free", || suite::free_build().ahead()),
    ("model", || model::loom_build().ahead()),
    ("portable", || suite::portable_build().ahead()),
    ("fat", || suite::fat_build().ahead()),
    ("guard", || drop(bench::built_guard())),
    ("cost", || drop(bench::built_bare_guard())),
    ("rows", || bench::tests_build().ahead()),
    // In the directory of `test`, to share its dependencies.
    ("checked", || suite::checked_build().ahead()),
];

/// Runs every step, or the named ones.
///
/// # Errors
/// When a named step does not exist.
pub(crate) fn ci(options: &Options) -> Result<Tally, String> {
    if let Some(name) = options
        .words
        .iter()
        .find(|w| STEPS.iter().all(|(n, _)| n != w))
    {
        let names: Vec<_> = STEPS.iter().map(|(name, _)| *name).collect();
        return Err(format!("no step `{name}`; there are: {}", names.join(", ")));
    }
    let mut total = Tally::default();
    let mut lines = Vec::new();
    let is_chosen =
        |name: &str| options.words.is_empty() || options.words.iter().any(|w| w == name);
    let builds: Vec<_> = AHEAD
        .iter()
        .filter(|(name, _)| is_chosen(name))
        .copied()
        .collect();
    if builds.len() > 1 {
        println!("== building ahead");
        prebuild::build(&builds);
    }
    for (name, step) in STEPS {
        if !is_chosen(name) {
            continue;
        }
        println!("== {name}");
        let (begun, before) = (Instant::now(), processor::of_children());
        let ended = step();
        let took = seconds(begun.elapsed());
        let worked = processor::since(before);
        let (tally, said) = match ended {
            Ok(tally) => (tally, String::new()),
            Err(said) => (Tally::check(false), format!(": {said}")),
        };
        let line = format!("   {name:<9} {took:>8} {worked:>9}   {tally}{said}");
        println!("{line}");
        lines.push(line);
        total += tally;
    }
    println!("== all steps");
    for line in lines {
        println!("{line}");
    }
    Ok(total)
}

fn quick() -> Options {
    Options::flag("quick")
}

fn fmt() -> Result<Tally, String> {
    command::run(command::cargo().args(["fmt", "--all", "--check"]))?;
    Ok(Tally::check(true))
}

fn clippy() -> Result<Tally, String> {
    let mut cargo = command::cargo();
    cargo.args([
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "-Dwarnings",
    ]);
    command::run(&mut cargo)?;
    Ok(Tally::check(true))
}

fn rustdoc() -> Result<Tally, String> {
    let mut cargo = command::cargo();
    cargo.args([
        "doc",
        "--quiet",
        "--workspace",
        "--no-deps",
        "--document-private-items",
    ]);
    command::run(cargo.env("RUSTDOCFLAGS", "-Dwarnings"))?;
    Ok(Tally::check(true))
}

/// Licences and bans of the dependencies, where cargo-deny is installed.
fn deny() -> Result<Tally, String> {
    if !command::exists("cargo-deny") {
        return Ok(skips::skip_check("deny", "no cargo-deny on this machine"));
    }
    let mut cargo = command::cargo();
    command::run(cargo.args(["deny", "check", "bans", "licenses", "sources"]))?;
    Ok(Tally::check(true))
}

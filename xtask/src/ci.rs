//! `cargo xtask ci`: all checks before a change is merged.
//!
//! Each step prints the number of tests or checks, its duration and its processor time, and fails
//! if it ran none. A failing step does not stop the later ones: all run, and the last line is a
//! summary. The processor time of a step that runs ahead contains that of its neighbours.

use std::process::Command;
use std::time::Instant;

use crate::model::Engine;
use crate::options::Options;
use crate::sanitize::Sanitizer;
use crate::tally::{Tally, seconds};
use crate::{
    api, bench, command, examples, matrix, model, outcomes, packages, prebuild,
    processor, programs, promises, repo, stress, suite, targets, tidy,
};

/// A step: its name, its function, and the flag that it gets.
type Step = (
    &'static str,
    fn(&Options) -> Result<Tally, String>,
    &'static str,
);

const STEPS: &[Step] = &[
    ("fmt", fmt, ""),
    (
        "clippy",
        |_| cargo("clippy --quiet --workspace --all-targets -- -Dwarnings"),
        "",
    ),
    ("tidy", tidy::tidy, ""),
    ("test", suite::whole, ""),
    ("fat", |options| suite::job("fat", options), ""),
    ("portable", |options| suite::job("portable", options), ""),
    ("free", |options| suite::job("free", options), ""),
    ("checked", |options| suite::job("checked", options), ""),
    ("programs", programs::programs, ""),
    ("rustdoc", rustdoc, ""),
    ("examples", examples::examples, ""),
    ("model", |options| Engine::Loom.run(options), "quick"),
    ("spin", model::spin, ""),
    ("shuttle", |options| Engine::Shuttle.run(options), "quick"),
    ("mutants", model::mutants, ""),
    ("bench", bench::tests, "quick"),
    ("asan", |options| Sanitizer::Address.run(options), "quick"),
    ("tsan", |options| Sanitizer::Thread.run(options), "quick"),
    ("guard", |_| bench::step("guard", bench::guard), ""),
    ("cost", |_| bench::step("cost", bench::cost), ""),
    ("targets", targets::targets, ""),
    ("matrix", matrix::matrix, ""),
    ("api", api::api, ""),
    ("packages", packages::packages, ""),
    ("timing", suite::timing, ""),
    // Names the rows with proofs that were skipped, above.
    ("rows", promises::rows, "names"),
    ("stress", stress::stress, ""),
    ("crates", programs::crates, ""),
    ("deny", deny, ""),
];

/// The steps that begin ahead, in parallel with each other: `CHECKS` run whole, of the others the
/// binaries are built. The steps of a line share a target directory; the longest lines come first.
const AHEAD: [&str; 15] = [
    "clippy test free portable checked mutants rustdoc matrix",
    "tsan",
    "programs",
    "asan",
    "shuttle",
    "rows",
    "model",
    "spin",
    "fat",
    "guard",
    "cost",
    "targets",
    "api",
    "tidy",
    "fmt",
];

/// The steps without tests: the load of the machine does not matter to them.
const CHECKS: [&str; 8] = [
    "fmt", "clippy", "tidy", "rustdoc", "spin", "targets", "matrix", "api",
];

/// Runs every step, or the named ones.
///
/// # Errors
/// When a named step does not exist.
pub(crate) fn ci(options: &Options) -> Result<Tally, String> {
    let names: Vec<_> = STEPS.iter().map(|(name, ..)| *name).collect();
    let is_unknown = |word: &&String| !names.contains(&word.as_str());
    if let Some(name) = options.words.iter().find(is_unknown) {
        return Err(format!("no step `{name}`; there are: {}", names.join(", ")));
    }
    let is_chosen =
        |name: &&str| options.words.is_empty() || options.words.iter().any(|w| w == name);
    let ahead = AHEAD.map(|line| line.split(' ').filter(is_chosen).collect());
    let mut ended = prebuild::build(&ahead, |name| {
        let is_check = |step: &&Step| step.0 == name && CHECKS.contains(&name);
        STEPS.iter().find(is_check).map(perform)
    });
    let mut total = Tally::default();
    let mut lines = Vec::new();
    for step in STEPS.iter().filter(|(name, ..)| is_chosen(name)) {
        let (tally, line) = ended.remove(step.0).unwrap_or_else(|| perform(step));
        lines.push(line);
        total += tally;
    }
    println!("== all steps");
    for line in lines {
        println!("{line}");
    }
    Ok(total)
}

/// Runs a step, which fails if it neither ran nor skipped a test; returns its line in the summary,
/// which it prints.
fn perform((name, step, flag): &Step) -> (Tally, String) {
    println!("== {name}");
    let (begun, before) = (Instant::now(), processor::of_children());
    let ended = step(&Options::flag(flag)).and_then(|tally| match tally.skipped {
        0 => tally.nonzero(name),
        _ => Ok(tally),
    });
    let (took, worked) = (seconds(begun.elapsed()), processor::since(before));
    let (tally, said) = match ended {
        Ok(tally) => (tally, String::new()),
        Err(said) => (Tally::check(false), format!(": {said}")),
    };
    let line = format!("   {name:<9} {took:>8} {worked:>9}   {tally}{said}");
    println!("{line}");
    (tally, line)
}

fn cargo(args: &str) -> Result<Tally, String> {
    command::run(&mut command::cargo(args)).map(|()| Tally::check(true))
}

/// The workspaces beside that of the root.
const OTHERS: &str = "bench fuzz programs programs/async programs/hooks";

/// Checks the format of all workspaces.
fn fmt(_: &Options) -> Result<Tally, String> {
    let mut tally = cargo("fmt --all --check")?;
    for home in OTHERS.split(' ') {
        tally += cargo(&format!("fmt --check --manifest-path {home}/Cargo.toml"))?;
    }
    Ok(tally)
}

fn rustdoc(_: &Options) -> Result<Tally, String> {
    let mut cargo =
        command::cargo("doc --quiet --workspace --no-deps --document-private-items");
    command::run(cargo.env("RUSTDOCFLAGS", "-Dwarnings"))?;
    // All pages together, with their links.
    command::run(&mut Command::new(repo::root().join("docs/book/build")))?;
    Ok(Tally::check(true))
}

/// Licences and bans of the dependencies, where cargo-deny is installed.
fn deny(_: &Options) -> Result<Tally, String> {
    if !command::exists("cargo-deny") {
        let missing = "no cargo-deny on this machine";
        return Ok(outcomes::skip_check("deny", missing));
    }
    cargo("deny check bans licenses sources")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words after `start`, up to the end of the line.
    fn after<'a>(text: &'a str, start: &str) -> impl Iterator<Item = &'a str> {
        let ends = text.split(start).skip(1);
        ends.flat_map(|rest| rest.lines().next().unwrap_or_default().split(' '))
    }

    #[test]
    fn what_is_run_elsewhere_are_steps() {
        let gate = repo::read(".ci/run").unwrap();
        let jobs = repo::read(".github/workflows/ci.yml").unwrap();
        let named = after(&gate, "set -- ").chain(after(&jobs, "cargo xtask ci "));
        let ahead = AHEAD.iter().flat_map(|line| line.split(' '));
        let named = named.chain(ahead).chain(CHECKS);
        let named: Vec<_> = named.collect();
        assert!(named.len() > 20);
        for name in named {
            assert!(STEPS.iter().any(|(step, ..)| *step == name), "{name}");
        }
    }

    #[test]
    fn a_step_without_tests_fails() {
        let failed = |step: Step| perform(&step).0.failed;
        assert_eq!(failed(("none", |_| Ok(Tally::default()), "")), 1);
        assert_eq!(failed(("skipped", |_| Ok(Tally::skip()), "")), 0);
        assert_eq!(failed(("one", |_| Ok(Tally::check(true)), "")), 0);
    }

    #[test]
    fn every_other_workspace_is_listed() {
        let files = repo::files().unwrap().into_iter();
        let owns = |text: &str| text.lines().any(|line| line == "[workspace]");
        let manifests = files.filter(|file| owns(&file.text)).map(|file| file.path);
        let homes = manifests.filter_map(|path| {
            let home = path.strip_suffix("/Cargo.toml")?;
            Some(home.to_owned())
        });
        assert_eq!(homes.collect::<Vec<_>>().join(" "), OTHERS);
    }
}

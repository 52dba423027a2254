//! The lane `programs`: what is written on pirn, tested with other people's clients.
//!
//! programs/ is a workspace of its own, so that what it depends on stays out of the library's
//! lock file. It is built once: the compiler that builds the tests is clippy's.

use std::path::PathBuf;

use crate::command;
use crate::harness::{Build, Case, cases};
use crate::options::Options;
use crate::repo;
use crate::suite;
use crate::tally::Tally;

/// How the names of its tests begin.
pub(crate) const NAMES: &str = "programs::";

/// Formatting, lints and tests of the programs, or those tests whose name contains one of the words.
///
/// # Errors
/// When it is not formatted, clippy finds something, it does not build, or nothing ran.
pub(crate) fn programs(options: &Options) -> Result<Tally, String> {
    let mut cargo = command::cargo();
    cargo.args(["fmt", "--check", "--manifest-path", &manifest()]);
    command::run(&mut cargo)?;
    let mut chosen = tests()?;
    chosen.retain(|case| case.ignored.is_none() && options.picks(&case.id()));
    let tally = suite::run_all(chosen, suite::how(options)?)?;
    println!("    programs: {tally}");
    tally.nonzero("tests of the programs")
}

/// The tests of the programs, built.
///
/// # Errors
/// When clippy finds something or it does not build.
pub(crate) fn tests() -> Result<Vec<Case>, String> {
    cases(&build().binaries()?)
}

/// The build of [`tests`].
pub(crate) fn build() -> Build {
    let build = Build {
        lane: Some("programs".to_owned()),
        ..Build::new(&["--manifest-path", &manifest()])
    };
    build
        .debug("none")
        .env("RUSTC_WORKSPACE_WRAPPER", clippy())
        .env("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__")
}

fn manifest() -> String {
    repo::root()
        .join("programs/Cargo.toml")
        .display()
        .to_string()
}

/// The compiler that lints: beside cargo, or on the search path.
fn clippy() -> PathBuf {
    let name = PathBuf::from("clippy-driver");
    let cargo = std::env::var_os("CARGO").map(PathBuf::from);
    let beside = cargo.map(|cargo| cargo.with_file_name(&name));
    beside.filter(|path| path.is_file()).unwrap_or(name)
}

//! The lane `programs`: programs on pirn, tested with third-party clients.
//!
//! programs/ is a separate workspace, so that its dependencies stay out of the library's lock file.
//! It is built once: clippy's compiler builds the tests.

use std::path::PathBuf;

use crate::command;
use crate::harness::{Build, Case, cases};
use crate::options::Options;
use crate::repo;
use crate::suite;
use crate::tally::Tally;

/// The beginning of the names of its tests.
pub(crate) const NAMES: &str = "programs::";

/// Checks formatting and lints of the programs and runs their tests, or those tests with one of the
/// words in their names.
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

/// Builds the tests of the programs.
///
/// # Errors
/// When clippy finds something or it does not build.
pub(crate) fn tests() -> Result<Vec<Case>, String> {
    cases(&build().binaries()?)
}

/// Returns the build of [`tests`].
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

/// Returns clippy's compiler: beside cargo, or on the search path.
fn clippy() -> PathBuf {
    let name = PathBuf::from("clippy-driver");
    let cargo = std::env::var_os("CARGO").map(PathBuf::from);
    let beside = cargo.map(|cargo| cargo.with_file_name(&name));
    beside.filter(|path| path.is_file()).unwrap_or(name)
}

//! The step `programs`: programs on pirn, tested with third-party clients.
//!
//! programs/ is a separate workspace, so that its dependencies stay out of the library's lock file.
//! It is built once: clippy's compiler builds the tests.

use std::path::PathBuf;

use crate::harness::{Build, Run, cases};
use crate::options::Options;
use crate::parallel::processors;
use crate::tally::Tally;
use crate::{rust_src, suite};

/// The beginning of the names of its tests.
pub(crate) const NAMES: &str = "programs::";

/// Checks the lints of the programs and runs their tests, or those with one of the words in their
/// names.
///
/// # Errors
/// When clippy finds something, it does not build, or nothing ran.
pub(crate) fn programs(options: &Options) -> Result<Tally, String> {
    let mut chosen = cases(&build("programs"))?;
    chosen.retain(|case| case.ignored.is_none() && options.picks(&case.id()));
    // They spend most of their time asleep.
    let how = Run::default().with(options)?.at_once(2 * processors() + 1);
    let tally = suite::run_all(chosen, how)?;
    println!("    programs: {tally}");
    tally.nonzero("tests of the programs")
}

/// Returns the build of the tests of another workspace, which fails if clippy finds something.
pub(crate) fn build(workspace: &str) -> Build {
    Build::new(&format!("--manifest-path {workspace}/Cargo.toml"))
        .folder(workspace)
        .debug("none")
        .env("RUSTC_WORKSPACE_WRAPPER", clippy())
        .env("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__")
}

/// Runs blocking crates and C libraries on fibers against their servers, std's own tests, and
/// programs with large async crates, one at a time: they are about time.
///
/// # Errors
/// When it does not build, or nothing ran.
pub(crate) fn crates(options: &Options) -> Result<Tally, String> {
    let mut chosen = Vec::new();
    for workspace in ["hooks", "async"] {
        let manifest = format!("--manifest-path programs/{workspace}/Cargo.toml");
        let build = Build::new(&format!("--release {manifest}"))
            .folder("crates")
            // std's tests use what is not stable.
            .env("RUSTC_BOOTSTRAP", "std_tests")
            .env("PIRN_RUST_SRC", rust_src::library()?);
        chosen.extend(cases(&build)?);
    }
    chosen.retain(|case| case.ignored.is_none() && options.picks(&case.id()));
    let tally = suite::run_all(chosen, Run::default().with(options)?.at_once(1))?;
    println!("    crates: {tally}");
    tally.nonzero("tests of crates")
}

/// Returns clippy's compiler: beside cargo, or on the search path.
fn clippy() -> PathBuf {
    let name = PathBuf::from("clippy-driver");
    let cargo = std::env::var_os("CARGO").map(PathBuf::from);
    let beside = cargo.map(|cargo| cargo.with_file_name(&name));
    beside.filter(|path| path.is_file()).unwrap_or(name)
}

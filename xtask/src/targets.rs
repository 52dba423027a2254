//! `cargo xtask targets`: the library compiles for systems that it is not tested on.
//!
//! Only compilation is promised for them. `std` is built from source, so no other toolchain is
//! needed.

use crate::options::Options;
use crate::tally::Tally;
use crate::{command, repo, rust_src};

const TARGETS: &[&str] = &["aarch64-unknown-linux-gnu", "aarch64-apple-darwin"];

/// Checks the library for every target, or for those with a word in their names.
///
/// # Errors
/// When Rust's library sources are not available, or no target is chosen.
pub(crate) fn targets(options: &Options) -> Result<Tally, String> {
    let mut tally = Tally::default();
    for target in TARGETS.iter().filter(|target| options.picks(target)) {
        tally += Tally::printed(compiles(target)?, target);
    }
    tally.nonzero("targets")
}

/// Returns true when the library compiles for `target`.
///
/// # Errors
/// When Rust's library sources are not available.
pub(crate) fn compiles(target: &str) -> Result<bool, String> {
    let mut cargo = command::cargo("check --quiet --package pirn -Zbuild-std --target");
    cargo.arg(target);
    cargo.env("CARGO_TARGET_DIR", repo::target(Some("targets")));
    cargo.env("RUSTC_BOOTSTRAP", "1");
    cargo.env("__CARGO_TESTS_ONLY_SRC_ROOT", rust_src::library()?);
    Ok(command::run(&mut cargo).is_ok())
}

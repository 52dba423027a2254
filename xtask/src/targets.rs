//! `cargo xtask targets`: the library compiles for systems that it is not tested on.
//!
//! Only compilation is promised for them. `std` is built from source, so no other toolchain is
//! needed.

use crate::options::Options;
use crate::tally::Tally;
use crate::{command, repo, rust_src};

const TARGETS: &[&str] = &["aarch64-unknown-linux-gnu", "aarch64-apple-darwin"];

/// Checks the library for every target, or for those with a word in their names; fails if there
/// are none.
///
/// # Errors
/// When Rust's library sources are not available.
pub(crate) fn targets(options: &Options) -> Result<Tally, String> {
    let mut chosen = TARGETS.to_vec();
    chosen.retain(|target| options.picks(target));
    let passed = !chosen.is_empty() && compiles(&chosen)?;
    Ok(Tally::printed(passed, chosen.join(", ")))
}

/// Returns true when the library compiles for all of `targets`, which cargo compiles at once.
///
/// # Errors
/// When Rust's library sources are not available.
pub(crate) fn compiles(targets: &[&str]) -> Result<bool, String> {
    let mut cargo = command::cargo("check --quiet --package pirn -Zbuild-std");
    cargo.args(targets.iter().flat_map(|target| ["--target", target]));
    cargo.env("CARGO_TARGET_DIR", repo::target(Some("targets")));
    cargo.env("RUSTC_BOOTSTRAP", "1");
    cargo.env("__CARGO_TESTS_ONLY_SRC_ROOT", rust_src::library()?);
    Ok(command::run(&mut cargo).is_ok())
}

//! The program with the sockets of `std` on fibers.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{step, target_directory};

/// Builds `bench/src/bin/hooked.rs`.
pub fn hooked() -> Result<PathBuf, String> {
    let target = target_directory();
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--release", "--bin", "hooked"]);
    build.arg("--manifest-path").arg(manifest);
    step(build.arg("--target-dir").arg(&target))?;
    Ok(target.join("release/hooked"))
}

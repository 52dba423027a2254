//! The versions of the peers that are not crates.

use std::process::Command;

use crate::harness::Programs;

use super::go::compiler;
use super::step;

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

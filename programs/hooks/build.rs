//! Makes tests of std's own tests, if `PIRN_RUST_SRC` names the directory `library` of Rust's
//! sources: each runs on a fiber, inside of `within`.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A module of tests, its file, and what it needs of the module around it.
const SUITES: &[(&str, &str, &str)] = &[
    ("tcp", "std/src/net/tcp/tests.rs", ""),
    ("udp", "std/src/net/udp/tests.rs", ""),
    (
        "unix",
        "std/src/os/unix/net/tests.rs",
        "pub use std::os::unix::net::*;",
    ),
    (
        "process",
        "std/src/process/tests.rs",
        "pub use std::process::*;",
    ),
    (
        "thread",
        "std/src/thread/tests.rs",
        "pub use std::thread::*;",
    ),
    ("barrier", "std/tests/sync/barrier.rs", ""),
    ("mpsc", "std/tests/sync/mpsc.rs", ""),
    ("once", "std/tests/sync/once.rs", ""),
    ("once_lock", "std/tests/sync/once_lock.rs", ""),
];

/// Tests that call private functions of std.
const PRIVATE: &[&str] = &["debug", "test_thread_os_id_not_equal"];

/// Addresses for the tests of sockets.
const ADDRESSES: &str = "std/src/net/test.rs";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PIRN_RUST_SRC");
    println!("cargo::rustc-check-cfg=cfg(std_tests)");
    let Some(library) = env::var_os("PIRN_RUST_SRC").map(PathBuf::from) else {
        return Ok(());
    };
    println!("cargo::rustc-cfg=std_tests");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    let mut all = module("addresses", &read(&library, ADDRESSES)?, "")?;
    for (name, file, around) in SUITES {
        all += &module(name, &read(&library, file)?, around)?;
    }
    fs::write(out.join("std_tests.rs"), all)?;
    Ok(())
}

fn read(library: &Path, file: &str) -> Result<String, String> {
    let path = library.join(file);
    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the module with these tests, which run by `crate::on_fiber`.
fn module(name: &str, text: &str, around: &str) -> Result<String, std::fmt::Error> {
    let text = text
        .replace("crate::net::test::", "CRATE::addresses::tests::")
        .replace("crate::test_helpers::", "CRATE::")
        .replace("crate::", "std::")
        .replace("CRATE::", "crate::");
    let mut made = String::new();
    writeln!(made, "mod {name} {{ {around} pub mod tests {{")?;
    let mut attributes: Option<Vec<&str>> = None;
    for line in text.lines() {
        // Attributes of a file.
        if line.starts_with("#![") {
            continue;
        }
        let trimmed = line.trim();
        if trimmed == "#[test]" {
            attributes = Some(Vec::new());
            continue;
        }
        let Some(known) = &mut attributes else {
            writeln!(made, "{line}")?;
            continue;
        };
        let Some(test) = trimmed
            .strip_prefix("fn ")
            .and_then(|it| it.split('(').next())
        else {
            known.push(line);
            continue;
        };
        let known = attributes.take().unwrap_or_default();
        if PRIVATE.contains(&test) {
            writeln!(made, "#[cfg(any())]\n{line}")?;
            continue;
        }
        writeln!(made, "#[test]\n{}", known.join("\n"))?;
        writeln!(made, "fn {test}() {{ crate::on_fiber(body_{test}) }}")?;
        let cfgs = known.iter().filter(|it| it.trim().starts_with("#[cfg("));
        writeln!(made, "{}", cfgs.copied().collect::<Vec<_>>().join("\n"))?;
        writeln!(made, "{}", line.replacen(test, &format!("body_{test}"), 1))?;
    }
    writeln!(made, "}} }}")?;
    Ok(made)
}

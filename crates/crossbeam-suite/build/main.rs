//! Generates test files for pirn from those in crossbeam-channel's package.
//!
//! Owns: the order of work, and the place of the results. Cargo has fetched the package, since it
//! is a dependency of this script; nothing of it is copied into the repository. The results are in
//! `OUT_DIR`:
//!
//! ```text
//! select_macro.rs       the package's own macros, for the shim (src/lib.rs)
//! threads.rs, threads/  a module for each test file; std's threads use pirn's channels
//! fibers.rs, fibers/    the same; threads are fibers, and so is every test's body
//! ```
//!
//! Does not own: finding the package (`package`), the changes to a file (`rewrite`), the list of
//! excluded tests (`exclusions`).

mod exclusions;
mod package;
mod rewrite;

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use exclusions::Exclusions;
use rewrite::Flavor;

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names it"));
    let package = package::directory();
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rustc-check-cfg=cfg(crossbeam_sanitize)");
    println!("cargo::rerun-if-changed={}", package.display());

    let macros = read(&package.join("src/select_macro.rs"));
    write(&out.join("select_macro.rs"), &rewrite::macros(&macros));

    let mut exclusions = Exclusions::new();
    for flavor in [Flavor::Threads, Flavor::Fibers] {
        let folder = out.join(flavor.name());
        fs::create_dir_all(&folder).expect("a folder for the tests");
        let mut root = String::new();
        for file in FILES {
            let text = read(&package.join("tests").join(format!("{file}.rs")));
            let text = rewrite::tests(flavor, file, &text, &mut exclusions);
            let path = folder.join(format!("{file}.rs"));
            write(&path, &text);
            writeln!(root, "{ALLOW}\n#[path = {path:?}]\nmod {file};").expect("a string");
        }
        write(&out.join(format!("{}.rs", flavor.name())), &root);
    }
    exclusions.finish();
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// The code of another crate follows rules of its own.
const ALLOW: &str =
    "#[allow(warnings, unsafe_code, unsafe_op_in_unsafe_fn, clippy::all)]";

/// Returns every test file of the package.
const FILES: &[&str] = &[
    "after",
    "array",
    "golang",
    "iter",
    "list",
    "mpsc",
    "never",
    "ready",
    "same_channel",
    "select",
    "select_macro",
    "thread_locals",
    "tick",
    "zero",
];

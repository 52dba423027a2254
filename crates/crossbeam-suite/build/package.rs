//! Finds the folder of the package crossbeam-channel.
//!
//! This script is linked with the copy that cargo has fetched, from a registry or from a vendored
//! folder. The message of a panic contains its source file, so a panic in the package reveals the
//! folder: no other way works without a network. (`cargo metadata` requires every package of the
//! workspace, also those that are not built.)

use std::env;
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The folder with the package's `Cargo.toml`.
pub(crate) fn directory() -> PathBuf {
    let source = workspace().join(source_file());
    let found = source.ancestors().find(|folder| {
        folder.join("Cargo.toml").is_file() && folder.join("tests").is_dir()
    });
    match found {
        Some(folder) => folder.to_path_buf(),
        None => panic!(
            "no package of crossbeam-channel around {}",
            source.display()
        ),
    }
}

/// Returns a source file of the package, with the path passed to the compiler.
fn source_file() -> String {
    let file = Arc::new(OnceLock::new());
    let seen = Arc::clone(&file);
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if let Some(location) = panic.location() {
            let _ = seen.set(location.file().to_owned());
        }
    }));
    let ended = panic::catch_unwind(|| crossbeam_channel::Select::new().ready());
    panic::set_hook(usual);
    assert!(ended.is_err(), "a select without operations does not panic");
    file.get().expect("a panic tells its location").clone()
}

/// Returns the folder that a relative path of a source file starts from.
fn workspace() -> PathBuf {
    let here = env::var_os("CARGO_MANIFEST_DIR").expect("cargo names it");
    let root = Path::new(&here).ancestors().nth(2);
    root.expect("two folders below the root").to_path_buf()
}

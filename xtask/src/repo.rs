//! Paths: the root of the repository, target directories, and its files.
//!
//! Does not own running programs (`command`, `harness`).

use std::fs;
use std::path::{Path, PathBuf};

use crate::command;

/// Returns the repository's root directory.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Returns cargo's target directory, or a subdirectory for a build with other flags: builds keep
/// each other's artifacts.
pub(crate) fn target(folder: Option<&str>) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let target = root().join(target);
    match folder {
        Some(folder) => target.join(folder),
        None => target,
    }
}

/// One source file of the repository.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// Path from the root, with forward slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Reads every text file that git knows or would add: sources, documents, settings. Sorted by path.
///
/// # Errors
/// When git fails, or a file cannot be read.
pub(crate) fn files() -> Result<Vec<File>, String> {
    let mut git = command::program("git");
    git.args(["ls-files", "-zco", "--exclude-standard"]);
    let paths = command::output(&mut git)?;
    let is_here = |path: &&str| is_text(path) && root().join(path).exists();
    let file = |path: &str| {
        let text = read(path)?;
        let path = path.to_owned();
        Ok(File { path, text })
    };
    // Without `-z` git quotes names with other letters than those of ASCII.
    let files = paths.split('\0').filter(is_here).map(file);
    let mut found = files.collect::<Result<Vec<_>, String>>()?;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Reads one file by its path from the root.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(root().join(path)).map_err(|e| format!("{path}: {e}"))
}

/// Writes one file by its path from the root.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write(path: &str, text: &str) -> Result<(), String> {
    fs::write(root().join(path), text).map_err(|e| format!("{path}: {e}"))
}

/// Returns the binary with the tests of a Rust file, named as in `harness`, and the path of the
/// file's module in it.
pub(crate) fn module(path: &str) -> Option<(String, Vec<&str>)> {
    let inside = path.strip_prefix("crates/").unwrap_or(path);
    let parts: Vec<_> = inside.strip_suffix(".rs")?.split('/').collect();
    let (binary, module) = match &parts[..] {
        [package, "tests", name, module @ ..] => (format!("{package}::{name}"), module),
        [package, "src", "bin", name, module @ ..] => {
            (format!("{package}::bin/{name}"), module)
        }
        ["xtask", "src", module @ ..] => ("xtask::bin/xtask".to_owned(), module),
        [package, "src", module @ ..] => ((*package).to_owned(), module),
        _ => return None,
    };
    let mut module = module.to_vec();
    module.pop_if(|last| matches!(*last, "mod" | "lib" | "main"));
    Some((binary, module))
}

fn is_text(path: &str) -> bool {
    const KINDS: &[&str] = &[
        "rs", "md", "toml", "stderr", "pml", "json", "py", "yml", "c", "go", "h", "txt",
        "sh", "cpp", "hpp",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    let kind = name.rsplit_once('.').map_or("", |(_, kind)| kind);
    KINDS.contains(&kind) || matches!(name, "run" | ".gitignore" | "LICENSE-MIT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_headers_are_read() {
        let files = files().unwrap();
        let is_read = |path: &str| files.iter().any(|file| file.path == path);
        assert!(is_read("xtask/rust-src.sh") && is_read("bench/boost/main.cpp"));
        assert!(is_read("bench/boost/talk.hpp"));
    }
}

//! Paths: the root of the repository, target directories, and its files.
//!
//! Does not own running programs (`command`, `harness`).

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the repository's root directory.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Returns cargo's target directory. `lane` names a subdirectory for a build with other flags, so
/// that lanes keep each other's artifacts.
pub(crate) fn target(lane: Option<&str>) -> PathBuf {
    let base = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    };
    match lane {
        Some(lane) => base.join(lane),
        None => base,
    }
}

/// One source file of the repository.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// Path from the root, with forward slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Reads every text file below the root: sources, documents, settings. Build outputs, version
/// control and binary files are left out. Sorted by path.
///
/// # Errors
/// When a directory or a file cannot be read.
pub(crate) fn files() -> Result<Vec<File>, String> {
    let mut found = Vec::new();
    walk(&root(), &root(), &mut found)?;
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

fn walk(root: &Path, dir: &Path, found: &mut Vec<File>) -> Result<(), String> {
    let entries = fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| format!("{}: {e}", dir.display()))?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            if !matches!(name.as_str(), "target" | ".git" | "corpus" | "artifacts") {
                walk(root, &path, found)?;
            }
        } else if is_text(&name) {
            let text = fs::read_to_string(&path)
                .map_err(|e| format!("{}: {e}", path.display()))?;
            let path = path.strip_prefix(root).unwrap_or(&path).to_string_lossy();
            found.push(File {
                path: path.replace('\\', "/"),
                text,
            });
        }
    }
    Ok(())
}

fn is_text(name: &str) -> bool {
    const KINDS: &[&str] = &[
        "rs", "md", "toml", "stderr", "pml", "json", "py", "yml", "c", "go", "h",
    ];
    let kind = name.rsplit_once('.').map_or("", |(_, kind)| kind);
    KINDS.contains(&kind) || matches!(name, "run" | ".gitignore" | "LICENSE-MIT")
}

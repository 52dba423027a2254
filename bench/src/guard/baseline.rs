//! The file in the repository with the accepted numbers of instructions, and the reasons.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The accepted counts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Baseline {
    /// The compiler that built it.
    pub(super) compiler: String,
    /// Instructions by operation.
    pub(super) instructions: BTreeMap<String, f64>,
    /// Every acceptance, the newest last.
    pub(super) blessed: Vec<Blessing>,
}

/// One acceptance.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Blessing {
    /// Why.
    pub(super) reason: String,
    /// The commit before its own.
    pub(super) commit: String,
    /// The changes, in percent.
    pub(super) changes: BTreeMap<String, String>,
}

impl Baseline {
    /// Reads the file; returns an empty baseline if there is none.
    ///
    /// # Errors
    /// The file exists and is not a baseline.
    pub(super) fn read() -> Result<Baseline, String> {
        let path = path();
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| format!("{}: {error}", path.display())),
            Err(_) => Ok(Baseline::default()),
        }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Those of writing.
    pub(super) fn write(&self) -> Result<(), String> {
        let path = path();
        let text =
            serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        fs::write(&path, text + "\n")
            .map_err(|error| format!("{}: {error}", path.display()))
    }
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("baseline.json")
}

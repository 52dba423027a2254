//! Earlier results of this machine: the last medians of every operation, below the target directory
//! and never in the repository.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::base::{Machine, Summary, target_directory};

/// Number of runs that are kept.
const DEPTH: usize = 10;

/// Medians by machine and operation, the oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct History {
    machines: BTreeMap<String, BTreeMap<String, VecDeque<f64>>>,
    #[serde(skip)]
    here: String,
}

impl History {
    /// Reads the file; returns an empty history if there is none or it cannot be read.
    pub(super) fn read() -> History {
        let text = fs::read_to_string(path()).unwrap_or_default();
        let mut history: History = serde_json::from_str(&text).unwrap_or_default();
        let machine = Machine::here();
        history.here = format!("{} × {}", machine.processors, machine.processor);
        history
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Those of writing.
    pub(super) fn write(&self) -> Result<(), String> {
        let text =
            serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        fs::write(path(), text).map_err(|error| error.to_string())
    }

    /// Returns the median of the history.
    pub(super) fn usual(&self, operation: &str) -> Option<f64> {
        let known: Vec<f64> = self
            .machines
            .get(&self.here)?
            .get(operation)?
            .iter()
            .copied()
            .collect();
        Summary::of(&known).map(|summary| summary.median)
    }

    /// Adds one, and removes the oldest.
    pub(super) fn add(&mut self, operation: &str, nanos: f64) {
        let machine = self.machines.entry(self.here.clone()).or_default();
        let known = machine.entry(operation.to_owned()).or_default();
        known.push_back(nanos);
        if known.len() > DEPTH {
            known.pop_front();
        }
    }
}

fn path() -> PathBuf {
    target_directory().join("guard-wall.json")
}

//! Whether the library keeps data that only reports read: counters that no decision depends on, the
//! reason of a fiber's wait, the monitor's data about a worker.
//!
//! All builds keep it but one: `cargo xtask bench cost` builds the library once more with
//! `--cfg pirn_bare` and compares the numbers of instructions, to measure the cost of this data.

/// False in the build without this data.
pub(crate) const KEEPS_REPORT_DATA: bool = !cfg!(pirn_bare);

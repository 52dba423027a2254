//! The report for other programs.

use super::Sheet;

/// The whole sheet as indented JSON.
pub fn json(sheet: &Sheet) -> String {
    serde_json::to_string_pretty(sheet).expect("a sheet is plain data")
}

//! Skips a test that cannot measure on this machine, for lack of a program or of a permission.
//!
//! Such a test calls [`unmeasured`] and returns. `cargo xtask` finds the line that this writes,
//! counts the test as skipped and names it at the end. Where all required programs have been
//! installed (`.ci/run`), `PIRN_TOOLS` is `required`, and the test fails.

use std::io::{self, Write as _};

/// How the line begins.
const MARK: &str = "unmeasured: ";

/// Reports that the calling test measures nothing, or only a part, because of `missing`.
///
/// # Panics
/// If `PIRN_TOOLS` is `required`.
#[track_caller]
pub(crate) fn unmeasured(missing: &str) {
    let tools = std::env::var_os("PIRN_TOOLS");
    let required = tools.is_some_and(|value| value == "required");
    assert!(
        !required,
        "cannot measure: {missing} (PIRN_TOOLS is `required`)"
    );
    // Not by `eprintln`: libtest captures the output of a test that passes.
    let line = format!("\n{MARK}{missing}\n");
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Repeats for the calling test the report in the `output` of a process that it has started.
///
/// # Panics
/// Like [`unmeasured`].
#[allow(dead_code, reason = "not every binary starts itself")]
#[track_caller]
pub(crate) fn repeat(output: &str) {
    let missing = output.lines().filter_map(|line| line.strip_prefix(MARK));
    missing.for_each(unmeasured);
}

//! A verdict as a line, for `cargo xtask bench` to write into `bench/BOUNDS.md`.

/// Returns the line: a case, a row, a bound, `KEPT` or `MISSED`, and the figure as a multiple of
/// the bound, with tabs between.
pub fn verdict_line(
    case: &str,
    row: &str,
    bound: &str,
    kept: bool,
    times: f64,
) -> String {
    let verdict = if kept { "KEPT" } else { "MISSED" };
    format!("{case}\t{row}\t{bound}\t{verdict}\t{times:.3}")
}

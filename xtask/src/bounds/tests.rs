//! The table of bounds with valid lines, invalid ones, and verdicts.

use super::docs::{stale, summary};
use super::open::OLD;
use super::record::updated;
use super::*;

const KEPT: &str =
    "| R3 | steal | theft | ≤ 1,000 ns | KEPT | 0.18 | 743e280 | 2026-11-22 | 743e280 |";
const MISSED: &str =
    "| R1 | pgz | rate | ≥ 0.98 × threads | MISSED | 0.91 | 743e280 | 2026-11-22 | - |";
const NEVER: &str =
    "| R5 | guard | yield | ≤ 1.05 × baseline.json | none | - | - | - | - |";

fn table(lines: &[&str]) -> String {
    format!("# Bounds\n\n{HEAD}{}\n", lines.join("\n"))
}

fn bounds(lines: &[&str]) -> Vec<Bound> {
    parse(&table(lines)).unwrap()
}

/// A history in which the commit of the bounds is `age` commits old.
fn history(age: usize) -> String {
    "0123456789\n".repeat(age) + "743e280abc\n"
}

#[test]
fn a_row_with_a_missed_bound_is_open() {
    let bounds = bounds(&[KEPT, MISSED, NEVER]);
    let open = open(&bounds, &history(0));
    assert_eq!(open.keys().collect::<Vec<_>>(), ["R1", "R5"]);
    assert_eq!(
        open["R1"],
        ["pgz MISSED 0.91 × `≥ 0.98 × threads`, kept: -"]
    );
    assert_eq!(open["R5"], ["guard never measured"]);
}

#[test]
fn an_old_verdict_leaves_its_row_open() {
    let bounds = bounds(&[KEPT]);
    assert!(open(&bounds, &history(OLD)).is_empty());
    let old = open(&bounds, &history(OLD + 1));
    assert_eq!(old["R3"], ["steal measured 61 commits ago"]);
    let lost = open(&bounds, "0123456789\n");
    assert_eq!(lost["R3"], ["steal measured at 743e280, not found"]);
}

#[test]
fn a_kept_bound_that_is_missed_now_is_a_failure_until_it_is_kept() {
    let kept = table(&[KEPT]);
    assert!(complaints(&parse(&kept).unwrap(), "R3", &["steal"]).is_empty());
    let missed = "steal\ttheft\t≤ 1,000 ns\tMISSED\t1.200";
    let (lost, _) = updated(&kept, missed, "abcdef0", "2026-11-25").unwrap();
    // Missed once more, it is still lost.
    let (lost, said) = updated(&lost, missed, "abcdef1", "2026-11-26").unwrap();
    assert_eq!(
        said,
        [
            "| R3 | steal | theft | ≤ 1,000 ns | MISSED | 1.200 | abcdef1 | 2026-11-26 | 743e280 |"
        ]
    );
    let said = complaints(&parse(&lost).unwrap(), "R3", &["steal"]);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("bench/BOUNDS.md:5: `steal` MISSES `≤ 1,000 ns`"));
    assert!(said[0].contains("743e280"), "{said:?}");
    let kept = "steal\ttheft\t≤ 1,000 ns\tKEPT\t0.900";
    let (again, _) = updated(&lost, kept, "abcdef2+", "2026-11-27").unwrap();
    assert!(complaints(&parse(&again).unwrap(), "R3", &["steal"]).is_empty());
    assert!(again.contains("KEPT | 0.900 | abcdef2+ | 2026-11-27 | abcdef2+ |"));
}

#[test]
fn a_bound_that_was_never_kept_is_open_and_no_failure() {
    assert!(complaints(&bounds(&[MISSED]), "R1", &["pgz"]).is_empty());
    // It excuses no other bound of its row.
    let lost = KEPT
        .replace("R3", "R1")
        .replace("KEPT | 0.18", "MISSED | 1.18");
    assert_eq!(
        complaints(&bounds(&[MISSED, &lost]), "R1", &["pgz", "steal"]).len(),
        1
    );
}

#[test]
fn verdicts_change_their_own_lines_alone() {
    let text = table(&[KEPT, MISSED, NEVER]);
    // Another bound of the case, and a line that is no verdict.
    let others = "steal\ttheft\t≤ 1,100 ns\tKEPT\t0.100\nsteal\n";
    let (same, said) = updated(&text, others, "abcdef0", "2026-11-25").unwrap();
    assert_eq!((same, said.len()), (text, 0));
}

#[test]
fn rows_and_bounds_name_each_other() {
    let said = complaints(&bounds(&[KEPT]), "R3", &["steal", "wake"]);
    assert_eq!(said.len(), 1);
    assert!(
        said[0].starts_with("`bench wake` has no bound: add"),
        "{said:?}"
    );
    let said = complaints(&bounds(&[KEPT]), "R3", &[]);
    assert!(
        said[0].starts_with("bench/BOUNDS.md:5: the row does not name"),
        "{said:?}"
    );
}

#[test]
fn a_malformed_line_is_named_with_its_remedy() {
    let check = |line: &str, from: &str, to: &str, wrong: &str, remedy: &str| {
        let said = parse(&table(&[NEVER, &line.replacen(from, to, 1)])).unwrap_err();
        assert!(said.starts_with("bench/BOUNDS.md:6: "), "{said}");
        assert!(said.contains(wrong) && said.contains(remedy), "{said}");
    };
    check(KEPT, "| steal ", "", "8 columns", "nine");
    check(KEPT, "743e280 |", "743e280", "8 columns", "nine");
    check(KEPT, "KEPT", "kept", "the verdict `kept`", "write KEPT");
    check(MISSED, " - |", " x |", "`x`", "name a commit");
    let anew = "write the verdict none";
    check(KEPT, "0.18", "NaN", "`NaN`", anew);
    check(KEPT, "0.18", "fast", "`fast`", anew);
    check(KEPT, "743e280", "today", "`today`", anew);
    check(NEVER, "none", "KEPT", "`-`", anew);
    check(MISSED, "MISSED", "KEPT", "the ratio 0.91", anew);
    check(KEPT, "0.18", "1.18", "the ratio 1.18", anew);
    assert!(parse("").unwrap_err().contains("restore"));
}

#[test]
fn the_documents_name_the_open_rows() {
    let bounds = bounds(&[KEPT, MISSED, NEVER]);
    let line = summary(&bounds, &open(&bounds, &history(0)));
    assert_eq!(
        line,
        "Open rows: 2 of 3 with measured bounds (`bench/BOUNDS.md`). A bound is missed: R1. \
         No verdict of the last 60 commits: R5."
    );
    let fresh = format!("a\n{line}\nb\n");
    assert_eq!(stale(&fresh, &line), None);
    let old = "a\nOpen rows: 1\nb\n";
    assert_eq!(stale(old, &line), Some((2, Some(fresh))));
    assert_eq!(stale("a\n", &line), Some((1, None)));
}

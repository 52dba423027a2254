//! Small programs of which the least number of unusual choices is known.
//!
//! Owns: the proof of that number, and the comparison with what campaigns report. Does not own: the
//! programs (`programs`).

use std::sync::Arc;

use pirn_sim::{Campaign, Failure, Trace, campaign};

mod programs;

/// The largest trace that may be reported for a minimum of 0, 1, 2 and 3 choices.
const MOST: [usize; 4] = [0, 1, 3, 4];

/// Names of choices that are tried: fibers, choices after each of them.
#[derive(Clone, Copy)]
struct Bounds {
    fibers: u32,
    choices: u32,
}

/// Checks that a failure of `body` needs `minimum` unusual choices, and that campaigns report at
/// most [`MOST`]; and that their reports name the `orders`, each an operation with its object and
/// the mark of its line.
///
/// # Panics
/// If not.
#[track_caller]
fn shrinks(body: fn(), minimum: usize, bounds: Bounds, orders: &[(&str, &str)]) {
    none_with_fewer(body, minimum, bounds);
    for seed in 0..4 {
        let failure = campaign().runs(10_000).seed(seed << 32).find(body);
        let failure = failure.expect("the campaign finds it");
        let length = failure.trace().to_string().matches('>').count();
        assert!(
            (minimum..=MOST[minimum]).contains(&length),
            "{length} choices, not {minimum}:\n{failure}"
        );
        let report = failure.to_string();
        assert!(report.lines().count() <= 12, "{report}");
        for (operation, mark) in orders {
            assert!(
                names(&report, operation, line(mark)),
                "{operation}, {mark}:\n{report}"
            );
        }
        again(&failure, body);
    }
}

/// Checks that the trace of a failure fails in the same way.
#[track_caller]
fn again(failure: &Failure, body: fn()) {
    let repeated = replay(failure.trace().clone()).find(body);
    let repeated = repeated.expect("the trace fails again");
    assert_eq!(repeated.trace(), failure.trace());
}

/// Runs all traces with fewer than `minimum` choices within the bounds: none of them fails.
#[track_caller]
fn none_with_fewer(body: fn(), minimum: usize, bounds: Bounds) {
    let fibers = || 0..bounds.fibers;
    let choices =
        fibers().flat_map(|after| (1..=bounds.choices).map(move |nth| (after, nth)));
    let all: Vec<_> = choices
        .flat_map(|(after, nth)| {
            fibers().map(move |runs| format!("{after}.{nth}>{runs}"))
        })
        .collect();
    let passes = |listed: &str| {
        let trace: Trace = format!("1:0:{listed}").parse().unwrap();
        let failure = replay(trace).find(body);
        assert!(failure.is_none(), "{}", failure.unwrap());
    };
    if minimum > 0 {
        passes("");
    }
    if minimum > 1 {
        all.iter().for_each(|single| passes(single));
    }
    if minimum > 2 {
        for (index, first) in all.iter().enumerate() {
            for second in &all[index + 1..] {
                passes(&format!("{first},{second}"));
            }
        }
    }
}

fn replay(trace: Trace) -> Campaign {
    campaign().replay(trace)
}

/// Returns true if the report has the operation at this line. An asterisk is any word.
fn names(report: &str, operation: &str, line: usize) -> bool {
    let ends = format!(":{line})");
    (0..report.len())
        .filter_map(|at| report.get(at..))
        .any(|rest| {
            let mut rest = rest;
            for (index, part) in operation.split('*').enumerate() {
                if index > 0 {
                    rest = rest.trim_start_matches(char::is_alphanumeric);
                }
                let Some(after) = rest.strip_prefix(part) else {
                    return false;
                };
                rest = after;
            }
            let place = rest
                .strip_prefix(" (")
                .and_then(|rest| rest.split_inclusive(')').next());
            place.is_some_and(|place| place.ends_with(&ends))
        })
}

/// Returns the number of the line of the programs that ends with the comment `mark`.
fn line(mark: &str) -> usize {
    let text = include_str!("programs.rs");
    let ends = |line: &str| line.ends_with(&format!("// {mark}"));
    let index = text.lines().position(ends);
    index.unwrap_or_else(|| panic!("no line with the mark {mark}")) + 1
}

/// A value that several fibers share.
fn shared<T: Default>() -> Arc<T> {
    Arc::default()
}

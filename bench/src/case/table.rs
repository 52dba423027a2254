//! The list of cases: sizes, processors, rows.

use std::array;
use std::str::FromStr;
use std::sync::LazyLock;

use super::{Job, Row};

/// One case: the work, its title and its rows.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name on the command line.
    pub name: &'static str,
    /// The title.
    pub title: &'static str,
    /// The work of the child, in full size.
    pub job: Job,
    /// The rows of the report.
    pub rows: Vec<Row>,
}

/// Returns the case of that name.
pub fn find(name: &str) -> Option<&'static Case> {
    table().iter().find(|case| case.name == name)
}

/// Returns all cases, in the order of the report.
pub fn table() -> &'static [Case] {
    static TABLE: LazyLock<Vec<Case>> =
        LazyLock::new(|| entries(include_str!("cases.txt")).map(case).collect());
    &TABLE
}

fn case(cells: [&'static str; 9]) -> Case {
    let [name, kind, workers, n, warmups, rounds, stack, rows, title] = cells;
    let all = entries(include_str!("rows.txt"));
    let rows: Vec<_> = all
        .filter(|[set, ..]: &[_; 6]| *set == rows)
        .map(|[_, cells @ ..]| Row::parse(cells))
        .collect();
    assert!(!rows.is_empty(), "{name} has no rows");
    Case {
        name,
        title,
        job: Job {
            kind: serde_json::from_str(kind).unwrap_or_else(|e| panic!("{name}: {e}")),
            workers: number(workers),
            n: number(n),
            warmups: number(warmups),
            rounds: number(rounds),
            stack: number(stack),
        },
        rows,
    }
}

/// Returns the cells of each line that is not a comment.
fn entries<const CELLS: usize>(
    text: &'static str,
) -> impl Iterator<Item = [&'static str; CELLS]> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let mut cells = line.split('|').map(str::trim);
        array::from_fn(|_| cells.next().unwrap_or_default())
    })
}

/// Reads a number of a cell.
pub(super) fn number<T: FromStr>(word: &str) -> T {
    let number = word.parse().ok();
    number.unwrap_or_else(|| panic!("`{word}` is not a number in range"))
}

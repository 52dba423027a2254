//! Markdown tables, as far as the documents use them.
//!
//! docs/features.md, docs/models.md, docs/unsafe.md, bench/BOUNDS.md and ARCHITECTURE.md are read
//! by checks: a table is found by the name of one of its columns.

/// Returns the cells of every row of the Markdown table with a column of this name, up to the first
/// line that is no row. The header and its ruler are left out.
pub(crate) fn table<'a>(text: &'a str, column: &str) -> Vec<(usize, Vec<&'a str>)> {
    let mut rows = Vec::new();
    let mut inside = false;
    for (at, line) in text.lines().enumerate() {
        let Some(row) = cells(line) else {
            inside = false;
            continue;
        };
        if inside {
            let is_ruler = row
                .iter()
                .all(|c| c.chars().all(|c| matches!(c, '-' | ':')));
            if !is_ruler {
                rows.push((at + 1, row));
            }
        } else {
            inside = row.contains(&column);
        }
    }
    rows
}

/// Returns the words of a cell between backticks.
pub(crate) fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.trim().strip_prefix('|')?;
    let row = row.strip_suffix('|').unwrap_or(row);
    Some(row.split('|').map(str::trim).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_tables_by_a_column() {
        let text = "| a | b |\n|--|--|\n| 1 | 2 |\n\n| Row | c |\n|--|:-:|\n| `x` and `y` | 4 |\n";
        assert_eq!(table(text, "Row"), [(7, vec!["`x` and `y`", "4"])]);
        assert_eq!(quoted("`x` and `y`"), ["x", "y"]);
        assert!(table(text, "none").is_empty());
    }
}

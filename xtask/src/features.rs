//! Reads docs/features.md: the promises and the tests that prove them.
//!
//! A table `Row | Promise | Proof`. A proof is one or more names between backticks:
//! * `` `pirn::machine spawn::many_joiners` ``: a test, by binary and path;
//! * `` `model claim_vs_timeout` ``: a model, by the end of its name;
//! * `` `mutant park_relaxed` ``: a seeded bug that its model catches;
//! * `` `portable spawn::names` ``: a test under the portable switch and parker;
//! * `` `free spawn::names` ``: a test where fibers may migrate;
//! * `` `checked spans::goes` ``: a test with the features `diagnostics` and `tracing`;
//! * `` `compiles aarch64-apple-darwin` ``: the library compiles for that target;
//! * `` `bench steal` ``: a case of the benches with bounds in bench/BOUNDS.md, or,
//!   with `::` in its name, a test of the benches themselves;
//!
//! or the words `issue N` for a promise that depends on another issue, or `pending`.

use std::fmt;

use crate::markdown::{quoted, table};

/// The table's path.
pub(crate) const PATH: &str = "docs/features.md";

/// The first words of proofs.
const KINDS: [&str; 7] = [
    "model", "mutant", "free", "portable", "checked", "compiles", "bench",
];

/// A proof of a promise.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Proof {
    /// The first word, or `test` or `issue`. Where a step of `ci` runs it, the step's name.
    pub(crate) kind: &'static str,
    /// For an issue, its number.
    pub(crate) name: String,
}

impl Proof {
    /// Returns true for a case of the benches: its bounds decide.
    pub(crate) fn is_case(&self) -> bool {
        self.kind == "bench" && !self.name.contains("::")
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            "test" => write!(f, "`{}`", self.name),
            kind => write!(f, "`{kind} {}`", self.name),
        }
    }
}

/// One promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: String,
    /// In the file, from 1.
    pub(crate) line: usize,
    pub(crate) proofs: Vec<Proof>,
}

impl Row {
    /// Returns true if it has no proof yet.
    pub(crate) fn is_pending(&self) -> bool {
        self.proofs.is_empty()
    }

    /// Returns the cases of the benches among its proofs.
    pub(crate) fn cases(&self) -> Vec<&str> {
        let cases = self.proofs.iter().filter(|proof| proof.is_case());
        cases.map(|proof| proof.name.as_str()).collect()
    }
}

/// Reads the table.
///
/// # Errors
/// When there is none, a row is duplicated, or a proof cannot be parsed.
pub(crate) fn parse(text: &str) -> Result<Vec<Row>, String> {
    let mut rows: Vec<Row> = Vec::new();
    for (line, cells) in table(text, "Row") {
        let [id, _, proof] = cells[..] else {
            return Err(format!("line {line}: a row has three columns"));
        };
        if rows.iter().any(|row| row.id == id) {
            return Err(format!("line {line}: row {id} is there twice"));
        }
        rows.push(Row {
            id: id.to_owned(),
            line,
            proofs: proofs(proof).map_err(|e| format!("line {line}: {e}"))?,
        });
    }
    if rows.is_empty() {
        return Err("no table with the column `Row`".to_owned());
    }
    Ok(rows)
}

fn proofs(cell: &str) -> Result<Vec<Proof>, String> {
    let proof = |kind, name: &str| Proof {
        kind,
        name: name.to_owned(),
    };
    let mut found = Vec::new();
    for quoted in quoted(cell) {
        let Some((first, rest)) = quoted.split_once(' ') else {
            return Err(format!("`{quoted}` names no binary"));
        };
        found.push(match KINDS.iter().find(|kind| **kind == first) {
            Some(kind) => proof(*kind, rest),
            None => proof("test", quoted),
        });
    }
    if let Some((_, number)) = cell.split_once("issue ") {
        let end = number.find(|c: char| !c.is_ascii_digit());
        found.push(proof("issue", &number[..end.unwrap_or(number.len())]));
    }
    let is_unread = found.iter().any(|proof| proof.name.is_empty());
    if is_unread || found.is_empty() && cell != "pending" {
        return Err(format!("`{cell}` is no proof"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(proof: &str) -> Result<Vec<Proof>, String> {
        let text =
            format!("| Row | Promise | Proof |\n|--|--|--|\n| A1 | p | {proof} |\n");
        parse(&text).map(|rows| rows[0].proofs.clone())
    }

    #[test]
    fn reads_every_kind_of_proof() {
        let read = row("`pirn::it a::b`, `model c`, `bench d`, issue 7, later").unwrap();
        let found: Vec<_> = read.iter().map(|p| (p.kind, p.name.as_str())).collect();
        let expected = [
            ("test", "pirn::it a::b"),
            ("model", "c"),
            ("bench", "d"),
            ("issue", "7"),
        ];
        assert_eq!(found, expected);
        assert_eq!(read[1].to_string(), "`model c`");
        assert_eq!(row("pending").unwrap(), []);
    }

    #[test]
    fn refuses_what_it_cannot_read() {
        for unreadable in ["some day", "`no_binary`", "issue", "issue which"] {
            assert!(row(unreadable).is_err(), "{unreadable}");
        }
        assert!(parse("text").is_err());
        let twice =
            "| Row | P | T |\n|-|-|-|\n| A1 | p | pending |\n| A1 | p | pending |\n";
        assert!(parse(twice).is_err());
    }
}

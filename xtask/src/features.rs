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

use crate::markdown::{quoted, table};

/// The table's path.
pub(crate) const PATH: &str = "docs/features.md";

/// A proof of a promise.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Proof {
    /// `binary test::path`.
    Test(String),
    /// The end of a model's name.
    Model(String),
    /// A seeded bug of docs/models.md.
    Mutant(String),
    /// The end of a test's name, where fibers may migrate.
    Free(String),
    /// The end of a test's name, under the portable switch and parker.
    Portable(String),
    /// The end of a test's name, with the features `diagnostics` and `tracing`.
    Checked(String),
    /// A target that the library compiles for.
    Compiles(String),
    /// A case of the benches, or one of their tests.
    Bench(String),
    /// The issue that will implement it.
    Issue(u32),
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
        let names = self.proofs.iter().filter_map(|proof| match proof {
            Proof::Bench(name) => Some(name.as_str()),
            _ => None,
        });
        names.filter(|name| !name.contains("::")).collect()
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
            proofs: proofs(proof, line)?,
        });
    }
    if rows.is_empty() {
        return Err("no table with the column `Row`".to_owned());
    }
    Ok(rows)
}

fn proofs(cell: &str, line: usize) -> Result<Vec<Proof>, String> {
    let mut found = Vec::new();
    for name in quoted(cell) {
        found.push(match name.split_once(' ') {
            Some(("model", name)) => Proof::Model(name.to_owned()),
            Some(("mutant", name)) => Proof::Mutant(name.to_owned()),
            Some(("portable", name)) => Proof::Portable(name.to_owned()),
            Some(("free", name)) => Proof::Free(name.to_owned()),
            Some(("checked", name)) => Proof::Checked(name.to_owned()),
            Some(("compiles", target)) => Proof::Compiles(target.to_owned()),
            Some(("bench", name)) => Proof::Bench(name.to_owned()),
            Some(_) => Proof::Test(name.to_owned()),
            None => return Err(format!("line {line}: `{name}` names no binary")),
        });
    }
    if let Some((_, rest)) = cell.split_once("issue ") {
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let number = number
            .parse()
            .map_err(|_| format!("line {line}: issue which?"))?;
        found.push(Proof::Issue(number));
    }
    if found.is_empty() && cell != "pending" {
        return Err(format!("line {line}: `{cell}` is no proof"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(proof: &str) -> Result<Vec<Proof>, String> {
        parse(&format!(
            "| Row | Promise | Proof |\n|--|--|--|\n| A1 | p | {proof} |\n"
        ))
        .map(|rows| rows[0].proofs.clone())
    }

    #[test]
    fn reads_every_kind_of_proof() {
        let read =
            row("`pirn::it a::b`, `model c`, `bench d`, `portable e`, issue 7").unwrap();
        assert_eq!(read[0], Proof::Test("pirn::it a::b".into()));
        assert_eq!(read[1], Proof::Model("c".into()));
        assert_eq!(read[2], Proof::Bench("d".into()));
        assert_eq!(read[3], Proof::Portable("e".into()));
        assert_eq!(read[4], Proof::Issue(7));
        assert_eq!(row("pending").unwrap(), []);
    }

    #[test]
    fn refuses_what_it_cannot_read() {
        assert!(row("some day").is_err());
        assert!(row("`no_binary`").is_err());
        assert!(row("issue").is_err());
        assert!(parse("text").is_err());
        let twice =
            "| Row | P | T |\n|-|-|-|\n| A1 | p | pending |\n| A1 | p | pending |\n";
        assert!(parse(twice).is_err());
    }
}

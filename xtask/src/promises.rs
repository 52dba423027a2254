//! `cargo xtask rows`: every promise of docs/features.md is proven by the test it names.
//!
//! Runs each named test and model; a name that is in no binary is a failure, and so is a row
//! without proof. With `--names` it only checks that named tests exist; `ci` does this after having
//! run them.
//!
//! The verdicts on cases of the benches are in bench/BOUNDS.md. A row with a missed bound, or
//! without a recent verdict, is open: the last lines name it, and so do README.md and
//! docs/features.md, which `--write` updates. The last line names cases with verdicts of trees that
//! were not committed.

use std::collections::{BTreeMap, BTreeSet};

use crate::bounds::{self, Bound};
use crate::features::{self, Proof, Row};
use crate::harness::{Case, Run, cases, run};
use crate::options::Options;
use crate::tally::Tally;
use crate::{jobs, model, outcomes, programs, repo, targets};

/// The beginning of the names of storms: they run optimised.
const STORMS: &str = "pirn::stress ";
/// The beginning of the names of the tests of optimised code: they run in the profile `fat`.
const FAT: &str = "pirn::optimised ";

/// Checks every row, or those with one of the words as id.
///
/// # Errors
/// When the table cannot be read or something does not build.
pub(crate) fn rows(options: &Options) -> Result<Tally, String> {
    let only_names = options.has("names");
    let features = features::read(&repo::files()?);
    let (mut rows, wrong) = (features.rows, features.wrong);
    let bounds = bounds::read()?;
    let mut tally = Tally::default();
    let mut fail = |said: Vec<String>| {
        for said in said {
            tally += Tally::printed(false, said);
        }
    };
    fail(wrong.iter().map(ToString::to_string).collect());
    fail(orphans(&rows, &bounds));
    let open = bounds::open(&bounds, &bounds::history()?);
    fail(bounds::docs(&bounds, &open, options.has("write"))?);
    if options.has("write") {
        features::save(&repo::files()?)?;
    }
    rows.retain(|row| options.words.is_empty() || options.words.contains(&row.id));
    let named: BTreeSet<_> = rows.iter().flat_map(|row| &row.proofs).collect();
    let tests = Tests::build(&named, only_names)?;
    let mut seen = tests.names(&named);
    if !only_names {
        tests.run(&named, options, &mut seen)?;
    }
    for row in &rows {
        let mut said = verdict(row, &seen);
        said.extend(bounds::complaints(&bounds, &row.id, &row.cases()));
        let unmeasured = unmeasured(row, &seen);
        tally += if !said.is_empty() {
            Tally::printed(false, format!("{}: {}", row.id, said.join("; ")))
        } else if !unmeasured.is_empty() {
            println!("    OPEN    {}: {}", row.id, unmeasured.join("; "));
            Tally::skip()
        } else {
            Tally::check(true)
        };
    }
    if only_names {
        // Mostly storms.
        let aside = |row: &&Row| row.proofs.iter().any(|proof| tests.is_aside(proof));
        let ids: Vec<_> = rows.iter().filter(aside).map(|row| &*row.id).collect();
        let ids = ids.join(", ");
        println!("    proofs that only `cargo xtask stress` or a name runs: {ids}");
    }
    let (all, few) = (rows.len(), open.len());
    println!("    {all} rows; open by their bounds: {few}");
    for (row, why) in open {
        println!("    open    {row}: {}", why.join("; "));
    }
    let uncommitted = bounds.iter().filter(|bound| bound.commit.ends_with('+'));
    let unsure: BTreeSet<_> = uncommitted.map(|bound| &bound.case).collect();
    println!("    verdicts of uncommitted trees: {unsure:?}");
    tally.nonzero("rows")
}

/// Bounds of rows that do not exist.
fn orphans(rows: &[Row], bounds: &[Bound]) -> Vec<String> {
    let is_known = |bound: &&Bound| rows.iter().any(|row| row.id == bound.row);
    let unknown = bounds.iter().filter(|bound| !is_known(bound));
    let said = |bound: &Bound| {
        let (path, line, row) = (bounds::PATH, bound.line, &bound.row);
        let promises = features::PROMISES;
        format!("{path}:{line}: no row {row}: name one of {promises}")
    };
    unknown.map(said).collect()
}

/// The outcome of an existing proof.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Green,
    Red,
    /// It measured nothing, since this requirement is missing.
    Skipped(String),
}

/// The outcomes of the proofs that exist.
type Outcomes = BTreeMap<Proof, Seen>;

/// The proofs of a row that measured nothing: such a row is open, not proven.
fn unmeasured(row: &Row, seen: &Outcomes) -> Vec<String> {
    let skipped = |proof: &Proof| match seen.get(proof) {
        Some(Seen::Skipped(missing)) => Some(format!("{proof} was skipped: {missing}")),
        _ => None,
    };
    row.proofs.iter().filter_map(skipped).collect()
}

/// Returns the failure of a row; none when it holds, or is open because a tool is missing.
fn verdict(row: &Row, seen: &Outcomes) -> Vec<String> {
    let failure = |proof: &Proof| match seen.get(proof) {
        Some(Seen::Green | Seen::Skipped(_)) => None,
        Some(Seen::Red) => Some(format!("{proof} is red")),
        None => Some(format!("{proof} does not exist")),
    };
    row.proofs.iter().filter_map(failure).collect()
}

/// All tests that a proof may name, built.
#[derive(Debug, Default)]
struct Tests {
    /// By the step that builds them.
    cases: BTreeMap<&'static str, Vec<Case>>,
    mutants: BTreeSet<String>,
    /// They do not run.
    only_names: bool,
}

impl Tests {
    /// Builds the named tests.
    fn build(named: &BTreeSet<&Proof>, only_names: bool) -> Result<Tests, String> {
        let mut tests = Tests {
            mutants: model::mutant_names()?,
            only_names,
            ..Tests::default()
        };
        let steps = named.iter().filter_map(|proof| tests.step(proof));
        for step in steps.collect::<BTreeSet<_>>() {
            let cases = match step {
                "model" => model::models()?,
                _ => cases(&jobs::build(step)?)?,
            };
            tests.cases.insert(step, cases);
        }
        Ok(tests)
    }

    /// Returns the step that builds the test which a proof names. Tests that will run are built as
    /// they run; to check that a storm exists, the ordinary build suffices.
    fn step(&self, proof: &Proof) -> Option<&'static str> {
        let is_in =
            |binaries: &[&str]| binaries.iter().any(|b| proof.name.starts_with(b));
        match proof.kind {
            "test" if is_in(&[FAT]) => Some("fat"),
            "test" if is_in(&[programs::NAMES]) => Some("programs"),
            "test" if is_in(&[STORMS]) && !self.only_names => Some("stress"),
            "mutant" | "compiles" => None,
            kind => Some(kind).filter(|_| !proof.is_case()),
        }
    }

    /// Returns the test or model that a proof names.
    fn case(&self, proof: &Proof) -> Option<&Case> {
        let is_named = |case: &&Case| match proof.kind {
            "test" => case.id() == proof.name,
            _ => case.name.ends_with(&proof.name),
        };
        self.cases.get(self.step(proof)?)?.iter().find(is_named)
    }

    /// Returns true if a test runs only on request.
    fn is_aside(&self, proof: &Proof) -> bool {
        self.case(proof).is_some_and(|case| case.ignored.is_some())
    }

    fn exists(&self, proof: &Proof) -> bool {
        match proof.kind {
            "mutant" => self.mutants.contains(&proof.name),
            // The target is known only by compiling, which `run` does.
            "compiles" => true,
            // The bounds of a case are in the table of bounds.
            _ => proof.is_case() || self.case(proof).is_some(),
        }
    }

    /// Returns every existing proof: as passed, unless an earlier step of this run has skipped it.
    fn names(&self, named: &BTreeSet<&Proof>) -> Outcomes {
        let here = named.iter().filter(|proof| self.exists(proof));
        let missing = |proof: &Proof| outcomes::missing_for(&self.case(proof)?.id());
        here.map(|proof| {
            let seen = missing(proof).map_or(Seen::Green, Seen::Skipped);
            ((*proof).clone(), seen)
        })
        .collect()
    }

    /// Runs the proofs; adds their outcomes.
    fn run(
        &self,
        named: &BTreeSet<&Proof>,
        options: &Options,
        seen: &mut Outcomes,
    ) -> Result<(), String> {
        let with_cases = named
            .iter()
            .filter_map(|proof| Some((*proof, self.case(proof)?.clone())));
        let (proofs, chosen): (Vec<&Proof>, Vec<Case>) = with_cases.unzip();
        let (tally, endings) = run(&chosen, Run::default().with(options)?)?;
        println!("    tests and models: {tally}");
        for (proof, ending) in proofs.into_iter().zip(endings) {
            let outcome = match ending.missing {
                Some(missing) => Seen::Skipped(missing),
                None if ending.passed => Seen::Green,
                None => Seen::Red,
            };
            seen.insert(proof.clone(), outcome);
        }
        for proof in named.iter().filter(|proof| self.exists(proof)) {
            let ok = match proof.kind {
                "compiles" => targets::compiles(&[&proof.name])?,
                "mutant" => model::is_caught(&proof.name)?,
                _ => continue,
            };
            let outcome = if ok { Seen::Green } else { Seen::Red };
            seen.insert((*proof).clone(), outcome);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(kind: &'static str, name: &str) -> Proof {
        let name = name.to_owned();
        Proof { kind, name }
    }

    fn row(proofs: Vec<Proof>) -> Row {
        Row {
            id: "A1".into(),
            proofs,
        }
    }

    #[test]
    fn a_row_holds_only_with_green_proofs() {
        let (good, bad) = (proof("test", "a b"), proof("test", "a c"));
        let seen =
            BTreeMap::from([(good.clone(), Seen::Green), (bad.clone(), Seen::Red)]);
        assert!(verdict(&row(vec![good.clone()]), &seen).is_empty());
        assert_eq!(verdict(&row(vec![good, bad]), &seen), ["`a c` is red"]);
        let said = verdict(&row(vec![proof("model", "m")]), &seen);
        assert_eq!(said, ["`model m` does not exist"]);
    }

    #[test]
    fn a_row_whose_proof_was_skipped_is_open() {
        let (good, lame) = (proof("test", "a b"), proof("test", "a c"));
        let skipped = Seen::Skipped("no strace".to_owned());
        let seen = BTreeMap::from([(good.clone(), Seen::Green), (lame.clone(), skipped)]);
        let both = row(vec![good.clone(), lame]);
        assert!(verdict(&both, &seen).is_empty());
        assert_eq!(unmeasured(&both, &seen).len(), 1);
        assert!(unmeasured(&row(vec![good]), &seen).is_empty());
    }

    #[test]
    fn only_tests_need_a_case() {
        let tests = Tests::default();
        assert!(tests.exists(&proof("compiles", "x86")));
        assert!(tests.exists(&proof("bench", "steal")));
        assert!(!tests.exists(&proof("bench", "base::steal")));
        assert!(!tests.exists(&proof("test", "a b")));
    }

    #[test]
    fn a_bound_has_a_row() {
        let bound = |row: &str| {
            let line = format!("| {row} | c | f | b | none | - | - | - | - |\n");
            bounds::parse(&format!("{}{line}", bounds::HEAD)).unwrap()
        };
        let said = orphans(&[row(vec![])], &bound("A2"));
        assert_eq!(
            said,
            ["bench/BOUNDS.md:3: no row A2: name one of docs/promises.txt"]
        );
        assert!(orphans(&[row(vec![])], &bound("A1")).is_empty());
    }
}

//! `cargo xtask rows`: every promise of docs/features.md is proven by the test it names.
//!
//! Runs each named test and model; a name that is in no binary is a failure, and so is a row
//! without proof. With `--names` it only checks that named tests exist; `ci` does this after having
//! run them.
//!
//! The verdicts on cases of the benches are in bench/BOUNDS.md. A row with a missed bound, or
//! without a recent verdict, is open: the last lines name it, and so do README.md and
//! docs/features.md, which `--write` updates.

use std::collections::{BTreeMap, BTreeSet};

use crate::bench;
use crate::bounds::{self, Bound};
use crate::features::{self, Proof, Row};
use crate::harness::{Case, cases, run};
use crate::model;
use crate::options::Options;
use crate::programs;
use crate::repo;
use crate::skips;
use crate::stress;
use crate::suite;
use crate::tally::Tally;
use crate::targets;

/// The beginning of the names of storms: they run optimised.
const STORMS: &str = "pirn::stress ";
/// The beginning of the names of the suites about optimised code: they run in the profile `fat`.
const FAT: [&str; 2] = ["pirn::thread_locals ", "pirn::rmw "];

/// Checks every row, or those with one of the words as id.
///
/// # Errors
/// When the table cannot be read or something does not build.
pub(crate) fn rows(options: &Options) -> Result<Tally, String> {
    let mut rows = features::parse(&repo::read(features::PATH)?)?;
    let bounds = bounds::read()?;
    let mut tally = Tally::default();
    for said in orphans(&rows, &bounds) {
        println!("    FAILED  {said}");
        tally += Tally::check(false);
    }
    rows.retain(|row| options.words.is_empty() || options.words.contains(&row.id));
    let named: BTreeSet<_> = rows.iter().flat_map(|row| &row.proofs).collect();
    let stage = Stage::build(&named, !options.has("names"))?;
    let seen = if options.has("names") {
        stage.names(&named)
    } else {
        stage.run(&named, options)?
    };
    for row in &rows {
        let mut said = verdict(row, &seen);
        said.extend(bounds::complaints(&bounds, &row.id, &row.cases()));
        let open = unmeasured(row, &seen);
        tally += if !said.is_empty() {
            println!("    FAILED  {}: {}", row.id, said.join("; "));
            Tally::check(false)
        } else if !open.is_empty() {
            println!("    OPEN    {}: {}", row.id, open.join("; "));
            Tally::skip()
        } else {
            Tally::check(true)
        };
    }
    if options.has("names") {
        // Mostly storms.
        let aside = |row: &&Row| row.proofs.iter().any(|proof| stage.is_aside(proof));
        let ids: Vec<_> = rows.iter().filter(aside).map(|row| &*row.id).collect();
        println!(
            "    proofs that only `cargo xtask stress` or a name runs: {}",
            ids.join(", ")
        );
    }
    let waiting = rows.iter().filter(|row| is_issue(&row.proofs)).count();
    println!(
        "    {} rows, {waiting} of them wait for an issue alone",
        rows.len()
    );
    let open = bounds::open(&bounds, bounds::age);
    for said in bounds::docs(&bounds, &open, options.has("write"))? {
        println!("    FAILED  {said}");
        tally += Tally::check(false);
    }
    println!("    {} rows are open by their bounds", open.len());
    for (row, why) in open {
        println!("    open    {row}: {}", why.join("; "));
    }
    tally.nonzero("rows")
}

/// Bounds of rows that do not exist.
fn orphans(rows: &[Row], bounds: &[Bound]) -> Vec<String> {
    let is_known = |bound: &&Bound| rows.iter().any(|row| row.id == bound.row);
    let unknown = bounds.iter().filter(|bound| !is_known(bound));
    let said = |bound: &Bound| {
        let (path, line, row) = (bounds::PATH, bound.line, &bound.row);
        format!(
            "{path}:{line}: no row {row}: name one of {}",
            features::PATH
        )
    };
    unknown.map(said).collect()
}

fn is_issue(proofs: &[Proof]) -> bool {
    proofs.iter().all(|p| matches!(p, Proof::Issue(_))) && !proofs.is_empty()
}

/// The outcome of an existing proof.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Green,
    Red,
    /// It measured nothing, since this requirement is missing.
    Skipped(String),
}

/// The proofs of a row that measured nothing: such a row is open, not proven.
fn unmeasured(row: &Row, seen: &BTreeMap<Proof, Seen>) -> Vec<String> {
    let skipped = |proof: &Proof| match seen.get(proof) {
        Some(Seen::Skipped(missing)) => Some(format!("{proof:?} was skipped: {missing}")),
        _ => None,
    };
    row.proofs.iter().filter_map(skipped).collect()
}

/// Returns the failure of a row; none when it holds, or is open because a tool is missing.
fn verdict(row: &Row, seen: &BTreeMap<Proof, Seen>) -> Vec<String> {
    if row.is_pending() {
        return vec!["pending".to_owned()];
    }
    let mut said = Vec::new();
    for proof in &row.proofs {
        match (proof, seen.get(proof)) {
            (Proof::Issue(_), _) | (_, Some(Seen::Green | Seen::Skipped(_))) => {}
            (_, Some(Seen::Red)) => said.push(format!("{proof:?} is red")),
            (_, None) => said.push(format!("{proof:?} does not exist")),
        }
    }
    said
}

/// All tests that a proof may name, built.
#[derive(Debug, Default)]
struct Stage {
    tests: Vec<Case>,
    models: Vec<Case>,
    portable: Vec<Case>,
    free: Vec<Case>,
    checked: Vec<Case>,
    bench_tests: Vec<Case>,
    mutants: BTreeSet<String>,
}

impl Stage {
    /// Builds the named tests. Tests that will run are built as they run; to check that a storm
    /// exists, the ordinary build suffices.
    fn build(named: &BTreeSet<&Proof>, to_run: bool) -> Result<Stage, String> {
        let any = |is: fn(&Proof) -> bool| named.iter().any(|proof| is(proof));
        let mut stage = Stage::default();
        if any(|p| matches!(p, Proof::Test(n) if !n.starts_with(programs::NAMES))) {
            stage.tests = cases(&suite::workspace_build().binaries()?)?;
        }
        let is_of = |case: &Case, starts: &[&str]| {
            let id = case.id();
            starts.iter().any(|start| id.starts_with(start))
        };
        stage.tests.retain(|case| !is_of(case, &FAT));
        if any(
            |p| matches!(p, Proof::Test(n) if FAT.iter().any(|start| n.starts_with(start))),
        ) {
            stage.tests.extend(cases(&suite::fat_build().binaries()?)?);
        }
        if to_run && any(|p| matches!(p, Proof::Test(n) if n.starts_with(STORMS))) {
            stage.tests.retain(|case| !is_of(case, &[STORMS]));
            stage.tests.extend(stress::storms()?);
        }
        if any(|p| matches!(p, Proof::Test(n) if n.starts_with(programs::NAMES))) {
            stage.tests.extend(programs::tests()?);
        }
        if any(|p| matches!(p, Proof::Model(_))) {
            stage.models = model::every()?;
        }
        if any(|p| matches!(p, Proof::Mutant(_))) {
            stage.mutants = model::mutant_names()?;
        }
        if any(|p| matches!(p, Proof::Portable(_))) {
            stage.portable = cases(&suite::portable_build().binaries()?)?;
        }
        if any(|p| matches!(p, Proof::Free(_))) {
            stage.free = cases(&suite::free_build().binaries()?)?;
        }
        if any(|p| matches!(p, Proof::Checked(_))) {
            stage.checked = cases(&suite::checked_build().binaries()?)?;
        }
        if any(|p| matches!(p, Proof::Bench(n) if n.contains("::"))) {
            stage.bench_tests = cases(&bench::tests_build().binaries()?)?;
        }
        Ok(stage)
    }

    /// Returns the test or model that a proof names.
    fn case(&self, proof: &Proof) -> Option<&Case> {
        let by_end = |cases: &'_ [Case], end: &str| {
            cases.iter().position(|case| case.name.ends_with(end))
        };
        match proof {
            Proof::Test(id) => self.tests.iter().find(|case| case.id() == *id),
            Proof::Model(end) => by_end(&self.models, end).map(|at| &self.models[at]),
            Proof::Portable(end) => {
                by_end(&self.portable, end).map(|at| &self.portable[at])
            }
            Proof::Checked(end) => by_end(&self.checked, end).map(|at| &self.checked[at]),
            Proof::Free(end) => by_end(&self.free, end).map(|at| &self.free[at]),
            Proof::Bench(end) => {
                by_end(&self.bench_tests, end).map(|at| &self.bench_tests[at])
            }
            Proof::Mutant(_) | Proof::Compiles(_) | Proof::Issue(_) => None,
        }
    }

    /// Returns true if a test runs only on request.
    fn is_aside(&self, proof: &Proof) -> bool {
        self.case(proof).is_some_and(|case| case.ignored.is_some())
    }

    fn exists(&self, proof: &Proof) -> bool {
        match proof {
            // Its bound is in the table of bounds.
            Proof::Bench(name) if !name.contains("::") => true,
            Proof::Mutant(name) => self.mutants.contains(name),
            // Known only by compiling, which `run` does.
            Proof::Compiles(_) => true,
            _ => self.case(proof).is_some(),
        }
    }

    /// Returns every existing proof: as passed, unless an earlier step of this run has skipped it.
    fn names(&self, named: &BTreeSet<&Proof>) -> BTreeMap<Proof, Seen> {
        let here = named.iter().filter(|proof| self.exists(proof));
        let missing = |proof: &Proof| skips::missing_for(&self.case(proof)?.id());
        here.map(|proof| {
            let seen = missing(proof).map_or(Seen::Green, Seen::Skipped);
            ((*proof).clone(), seen)
        })
        .collect()
    }

    /// Returns every existing proof, with the outcome of its test.
    fn run(
        &self,
        named: &BTreeSet<&Proof>,
        options: &Options,
    ) -> Result<BTreeMap<Proof, Seen>, String> {
        let mut seen = self.names(named);
        let (proofs, chosen): (Vec<&Proof>, Vec<Case>) = named
            .iter()
            .filter_map(|p| Some((*p, self.case(p)?.clone())))
            .unzip();
        let (tally, endings) = run(&chosen, suite::how(options)?)?;
        println!("    tests and models: {tally}");
        for (proof, ending) in proofs.into_iter().zip(endings) {
            let how = match ending.missing {
                Some(missing) => Seen::Skipped(missing),
                None if ending.passed => Seen::Green,
                None => Seen::Red,
            };
            seen.insert(proof.clone(), how);
        }
        for proof in named.iter().filter(|proof| self.exists(proof)) {
            let ok = match proof {
                Proof::Compiles(target) => targets::compiles(target)?,
                Proof::Mutant(name) => model::is_caught(name)?,
                _ => continue,
            };
            let how = if ok { Seen::Green } else { Seen::Red };
            seen.insert((*proof).clone(), how);
        }
        Ok(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(proofs: Vec<Proof>) -> Row {
        Row {
            id: "A1".into(),
            line: 1,
            proofs,
        }
    }

    #[test]
    fn a_row_holds_only_with_green_proofs() {
        let (good, bad) = (Proof::Test("a b".into()), Proof::Test("a c".into()));
        let seen =
            BTreeMap::from([(good.clone(), Seen::Green), (bad.clone(), Seen::Red)]);
        assert!(verdict(&row(vec![good.clone()]), &seen).is_empty());
        assert!(verdict(&row(vec![Proof::Issue(3)]), &seen).is_empty());
        assert_eq!(verdict(&row(vec![]), &seen), ["pending"]);
        assert_eq!(verdict(&row(vec![good, bad]), &seen).len(), 1);
        assert_eq!(
            verdict(&row(vec![Proof::Model("m".into())]), &seen).len(),
            1
        );
    }

    #[test]
    fn a_row_whose_proof_was_skipped_is_open() {
        let (good, lame) = (Proof::Test("a b".into()), Proof::Test("a c".into()));
        let skipped = Seen::Skipped("no strace".to_owned());
        let seen = BTreeMap::from([(good.clone(), Seen::Green), (lame.clone(), skipped)]);
        let both = row(vec![good.clone(), lame]);
        assert!(verdict(&both, &seen).is_empty());
        assert_eq!(unmeasured(&both, &seen).len(), 1);
        assert!(unmeasured(&row(vec![good]), &seen).is_empty());
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
            ["bench/BOUNDS.md:3: no row A2: name one of docs/features.md"]
        );
        assert!(orphans(&[row(vec![])], &bound("A1")).is_empty());
    }
}

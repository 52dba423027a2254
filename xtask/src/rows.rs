//! `cargo xtask rows`: every promise of docs/features.md is proven by the test it names.
//!
//! Runs each named test and model; a name that no binary holds is a failure, and so is a row
//! without proof. With `--names` it only checks that what is named exists, which is what
//! `ci` does after having run everything.

use std::collections::{BTreeMap, BTreeSet};

use crate::bench;
use crate::features::{self, Proof, Row};
use crate::harness::{Case, cases, run};
use crate::model;
use crate::options::Options;
use crate::programs;
use crate::repo;
use crate::stress;
use crate::suite;
use crate::tally::Tally;
use crate::targets;

/// Flags and valued options of the command.
pub(crate) const FLAGS: &[&str] = &["names", "verbose"];
pub(crate) const VALUED: &[&str] = &["jobs", "timeout"];

/// Where the tables of the benches are; a case is named in a first column.
const RESULTS: [&str; 3] = [
    "bench/RESULTS.md",
    "bench/RESULTS-forks.md",
    "bench/RESULTS-servers.md",
];
/// How the names of storms begin: they run optimised.
const STORMS: &str = "pirn::stress ";
/// How the names of the suites about optimised code begin: they run as the profile `fat`
/// builds them.
const FAT: [&str; 2] = ["pirn::thread_locals ", "pirn::rmw "];

/// Checks every row, or those whose id is one of the words.
///
/// # Errors
/// When the table cannot be read or something does not build.
pub(crate) fn rows(options: &Options) -> Result<Tally, String> {
    let mut rows = features::parse(&repo::read(features::PATH)?)?;
    rows.retain(|row| options.words.is_empty() || options.words.contains(&row.id));
    let named: BTreeSet<_> = rows.iter().flat_map(|row| &row.proofs).collect();
    let stage = Stage::build(&named, !options.has("names"))?;
    let green = if options.has("names") {
        stage.names(&named)
    } else {
        stage.run(&named, options)?
    };
    let mut tally = Tally::default();
    for row in &rows {
        let said = verdict(row, &green);
        if !said.is_empty() {
            println!("    FAILED  {}: {}", row.id, said.join("; "));
        }
        tally += if said.is_empty() {
            Tally::PASS
        } else {
            Tally::FAIL
        };
    }
    let waiting = rows.iter().filter(|row| is_issue(&row.proofs)).count();
    println!(
        "    {} rows, {waiting} of them wait for an issue alone",
        rows.len()
    );
    tally.nonzero("rows")
}

fn is_issue(proofs: &[Proof]) -> bool {
    proofs.iter().all(|p| matches!(p, Proof::Issue(_))) && !proofs.is_empty()
}

/// What is wrong with a row; nothing when it holds.
fn verdict(row: &Row, green: &BTreeMap<Proof, bool>) -> Vec<String> {
    if row.is_pending() {
        return vec!["pending".to_owned()];
    }
    let mut said = Vec::new();
    for proof in &row.proofs {
        match (proof, green.get(proof)) {
            (Proof::Issue(_), _) | (_, Some(true)) => {}
            (_, Some(false)) => said.push(format!("{proof:?} is red")),
            (_, None) => said.push(format!("{proof:?} does not exist")),
        }
    }
    said
}

/// Everything that a proof may name, built.
#[derive(Debug, Default)]
struct Stage {
    tests: Vec<Case>,
    models: Vec<Case>,
    portable: Vec<Case>,
    free: Vec<Case>,
    checked: Vec<Case>,
    bench_tests: Vec<Case>,
    bench_cases: BTreeSet<String>,
    mutants: BTreeSet<String>,
}

impl Stage {
    /// Builds what is named. What is to run is built as it runs; to see that a storm exists, the ordinary
    /// build does.
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
        if any(|p| matches!(p, Proof::Bench(n) if !n.contains("::"))) {
            for path in RESULTS {
                stage.bench_cases.extend(first_column(&repo::read(path)?));
            }
        }
        Ok(stage)
    }

    /// The test or model that a proof names.
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

    fn exists(&self, proof: &Proof) -> bool {
        match proof {
            Proof::Bench(name) if self.bench_cases.contains(name) => true,
            Proof::Mutant(name) => self.mutants.contains(name),
            // Known only by trying, which `run` does.
            Proof::Compiles(_) => true,
            _ => self.case(proof).is_some(),
        }
    }

    /// Every proof that exists, as green.
    fn names(&self, named: &BTreeSet<&Proof>) -> BTreeMap<Proof, bool> {
        let here = named.iter().filter(|proof| self.exists(proof));
        here.map(|proof| ((*proof).clone(), true)).collect()
    }

    /// Every proof that exists, with how its test ended.
    fn run(
        &self,
        named: &BTreeSet<&Proof>,
        options: &Options,
    ) -> Result<BTreeMap<Proof, bool>, String> {
        let mut green = self.names(named);
        let (proofs, chosen): (Vec<&Proof>, Vec<Case>) = named
            .iter()
            .filter_map(|p| Some((*p, self.case(p)?.clone())))
            .unzip();
        let (tally, endings) = run(&chosen, suite::how(options)?)?;
        println!("    tests and models: {tally}");
        for (proof, ending) in proofs.into_iter().zip(endings) {
            green.insert(proof.clone(), ending.passed);
        }
        for proof in named.iter().filter(|proof| self.exists(proof)) {
            let ok = match proof {
                Proof::Compiles(target) => targets::compiles(target)?,
                Proof::Mutant(name) => model::is_caught(name)?,
                _ => continue,
            };
            green.insert((*proof).clone(), ok);
        }
        Ok(green)
    }
}

/// The first cells of all table rows, quotes taken off.
fn first_column(text: &str) -> BTreeSet<String> {
    let cell = |line: &str| {
        let cell = line.trim().strip_prefix('|')?.split('|').next()?;
        Some(cell.trim().trim_matches('`').to_owned())
    };
    text.lines().filter_map(cell).collect()
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
        let green = BTreeMap::from([(good.clone(), true), (bad.clone(), false)]);
        assert!(verdict(&row(vec![good.clone()]), &green).is_empty());
        assert!(verdict(&row(vec![Proof::Issue(3)]), &green).is_empty());
        assert_eq!(verdict(&row(vec![]), &green), ["pending"]);
        assert_eq!(verdict(&row(vec![good, bad]), &green).len(), 1);
        assert_eq!(
            verdict(&row(vec![Proof::Model("m".into())]), &green).len(),
            1
        );
    }

    #[test]
    fn reads_the_cases_of_the_benches() {
        let read = first_column("text\n| `steal` | 1 |\n| yield | 2 |\n");
        assert!(read.contains("steal") && read.contains("yield"));
    }
}

//! Seeded bugs: a model that cannot fail proves nothing.
//!
//! docs/models.md has the table `Mutant | Engine | Caught by | What it breaks`. A build of an engine
//! contains all of its mutants (`--cfg pirn_mutants`); the variable `PIRN_MUTANT` turns on one. The
//! tests of its row run with it: at least one must fail, within two minutes. Those that are not
//! models also run with no mutant turned on, and must pass; models do so in other steps, shuttle's with
//! fewer schedules.

use std::collections::BTreeSet;
use std::time::Duration;

use super::engines::Engine;
use crate::harness::{Case, Run, run};
use crate::markdown::{quoted, table};
use crate::options::Options;
use crate::parallel::{parallel, processors};
use crate::repo;
use crate::source::Source;
use crate::tally::Tally;

/// The table's path.
pub(crate) const PATH: &str = "docs/models.md";

/// The variable that turns on a mutant.
const CHOICE: &str = "PIRN_MUTANT";

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
struct Mutant {
    name: String,
    engine: Engine,
    /// The tests of which at least one must fail. Each is an end of a test's path, or a `*` after
    /// the beginning of the last part of the path.
    catchers: Vec<String>,
}

/// Runs the tests of each mutant. If words are given, only the mutants with one of them in their
/// names are tried.
///
/// # Errors
/// When the table cannot be read, a test does not build, or no mutant is chosen.
pub(crate) fn mutants(options: &Options) -> Result<Tally, String> {
    tried(|mutant| options.picks(&mutant.name), options)?.nonzero("mutants")
}

/// Returns true when a test fails on the mutant of this name.
///
/// # Errors
/// When the table cannot be read, or the tests do not build.
pub(crate) fn is_caught(name: &str) -> Result<bool, String> {
    Ok(tried(|mutant| mutant.name == name, &Options::default())?.is_green())
}

/// Runs the tests of the chosen mutants with each mutant turned on; those that are not models also
/// without.
fn tried(
    is_chosen: impl Fn(&Mutant) -> bool,
    options: &Options,
) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let mut mutants = parse(&repo::read(PATH)?)?;
    mutants.retain(is_chosen);
    mutants.sort_by_key(|mutant| mutant.engine);
    for mutants in mutants.chunk_by(|a, b| a.engine == b.engine) {
        let engine = mutants[0].engine;
        let mut tests = engine.catchers()?;
        tests.retain(|test| mutants.iter().any(|mutant| mutant.is_for(test)));
        if !engine.has_models() {
            tally += run(&tests, Run::default().with(options)?)?.0;
        }
        let found = parallel(mutants, processors() + 1, |mutant| mutant.caught(&tests));
        for (Mutant { name, .. }, found) in mutants.iter().zip(found) {
            let by = found?.unwrap_or_default();
            tally += Tally::printed(!by.is_empty(), format!("{name}: caught by `{by}`"));
        }
    }
    Ok(tally)
}

/// Returns the names in the table.
///
/// # Errors
/// When the table cannot be read.
pub(crate) fn mutant_names() -> Result<BTreeSet<String>, String> {
    let mutants = parse(&repo::read(PATH)?)?;
    Ok(mutants.into_iter().map(|mutant| mutant.name).collect())
}

impl Mutant {
    /// Returns true if the test should catch it.
    fn is_for(&self, test: &Case) -> bool {
        self.catchers.iter().any(|c| fits(c, &test.name))
    }

    /// Runs those of the tests that should catch it; returns the first that failed. A test killed at
    /// the timeout does not count: it may only be slow.
    fn caught(&self, tests: &[Case]) -> Result<Option<String>, String> {
        let how = Run {
            timeout: Duration::from_secs(120),
            jobs: 1,
            quiet: true,
            ..Run::default()
        };
        let own = tests.iter().filter(|test| self.is_for(test));
        let seeded: Vec<_> = own.map(|test| test.env(CHOICE, &self.name)).collect();
        let (_, mut endings) = run(&seeded, how)?;
        endings.retain(|e| e.has_failed() && e.took < how.timeout);
        Ok(endings.first().map(|ending| ending.id.clone()))
    }
}

/// Returns true when the test with the path `name` matches `catcher`: an end of the path, or
/// `start*` for the last part of it.
fn fits(catcher: &str, name: &str) -> bool {
    let last = name.rsplit("::").next().unwrap_or(name);
    match catcher.strip_suffix('*') {
        Some(start) => last.starts_with(start),
        None => name.ends_with(catcher),
    }
}

fn parse(text: &str) -> Result<Vec<Mutant>, String> {
    let mut mutants = Vec::new();
    for (line, row) in table(text, "Mutant") {
        let bad = |what| format!("{PATH}:{line}: {what}");
        let [name, engine, catchers, _] = row[..] else {
            return Err(bad("a row has four columns"));
        };
        let name = *quoted(name).first().ok_or_else(|| bad("no name"))?;
        mutants.push(Mutant {
            name: name.to_owned(),
            engine: Engine::named(engine).ok_or_else(|| bad("no such engine"))?,
            catchers: quoted(catchers).into_iter().map(str::to_owned).collect(),
        });
    }
    Ok(mutants)
}

/// Compares the bugs seeded in the library with the table: each must be in both.
pub(crate) fn check<'a>(
    text: &str,
    library: impl Iterator<Item = &'a Source>,
) -> Vec<String> {
    let listed: BTreeSet<_> = match parse(text) {
        Ok(mutants) => mutants.into_iter().map(|m| m.name).collect(),
        Err(said) => return vec![said],
    };
    let seeded: BTreeSet<_> = library.flat_map(seeds).collect();
    let unlisted = seeded
        .difference(&listed)
        .map(|m| format!("`{m}` is not in {PATH}"));
    let unseeded = listed
        .difference(&seeded)
        .map(|m| format!("`{m}` is seeded nowhere"));
    unlisted.chain(unseeded).collect()
}

/// Returns the names of the bugs seeded in a file: the first string after each macro that seeds one.
fn seeds(source: &Source) -> Vec<String> {
    let tokens: Vec<_> = source.tokens.iter().map(|t| t.text.as_str()).collect();
    let mut found = Vec::new();
    for (at, start) in tokens.windows(2).enumerate() {
        if !matches!(start, ["mutant" | "or_relaxed", "!"]) {
            continue;
        }
        let mut rest = tokens[at..]
            .iter()
            .take_while(|text| !matches!(**text, ")" | ";"));
        let name = rest.find_map(|text| text.strip_prefix('"')?.strip_suffix('"'));
        found.extend(name.map(str::to_owned));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::File;

    const TABLE: &str = "| Mutant | Engine | Caught by | What |\n|--|--|--|--|\n\
        | `a` | loom | `model_x`, `model_y` | drops the re-check |\n";

    #[test]
    fn reads_the_table() {
        let read = parse(TABLE).unwrap();
        assert_eq!(read[0].name, "a");
        assert_eq!(read[0].engine, Engine::Loom);
        assert_eq!(read[0].catchers, ["model_x", "model_y"]);
        let sim = parse(&TABLE.replace("loom", "sim")).unwrap();
        assert_eq!(sim[0].engine, Engine::Plain);
        assert!(parse(&TABLE.replace("loom", "luck")).is_err());
        assert!(fits("model_x", "a::tests::model_x") && !fits("model_x", "model_xy"));
        assert!(fits("model_*", "a::tests::model_x") && !fits("model_*", "model_a::x"));
    }

    #[test]
    fn seeds_and_table_agree_or_are_found() {
        let source = |text: &str| {
            let path = "crates/pirn/src/x.rs".to_owned();
            let text = text.to_owned();
            Source::new(&File { path, text }).unwrap()
        };
        let seeded = source(
            "fn f() { if mutant!(\"a\") {\n x(or_relaxed!(Ordering::Release, \"b\")); }\n\
            // mutant!(\"c\")\n mutant!($name) }\n",
        );
        assert_eq!(seeds(&seeded), ["a", "b"]);
        assert_eq!(check(TABLE, [&seeded].into_iter()).len(), 1);
        let said = check(TABLE, [&source("")].into_iter());
        assert_eq!(said, ["`a` is seeded nowhere"]);
    }
}

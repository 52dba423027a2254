//! Seeded bugs: a model that cannot fail proves nothing.
//!
//! docs/models.md has the table `Mutant | Engine | Caught by | What it breaks`. Each is built
//! alone into the library (`--cfg pirn_mutant="name"`), and the tests named in its row run:
//! at least one must fail. A timeout counts as a failure: a lost wake may appear as a hang.

use std::collections::BTreeSet;
use std::time::Duration;

use super::engines::Engine;
use crate::harness::{Build, Case, Run, cases, run};
use crate::markdown::{quoted, table};
use crate::options::Options;
use crate::repo;
use crate::source::Source;
use crate::tally::Tally;

/// The table's path.
pub(crate) const PATH: &str = "docs/models.md";

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
struct Mutant {
    name: String,
    engine: Engine,
    /// The tests of which at least one must fail. Each is an end of a test's path, or a `*` after
    /// the beginning of the last part of the path.
    catchers: Vec<String>,
}

/// Builds each mutant and checks that a test fails on it. If words are given, only the mutants
/// with one of them in their names are built.
///
/// # Errors
/// When the table cannot be read, or no mutant is chosen.
pub(crate) fn mutants(options: &Options) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let mutants = parse(&repo::read(PATH)?)?;
    for mutant in mutants.iter().filter(|m| options.picks(&m.name)) {
        let name = &mutant.name;
        let caught = mutant.caught(options.has("quick"));
        match &caught {
            Ok(Some(catcher)) => println!("    caught  {name} by {catcher}"),
            Ok(None) => println!("    MISSED  {name}: all green"),
            Err(said) => println!("    FAILED  {name}: {said}"),
        }
        tally += Tally::check(matches!(caught, Ok(Some(_))));
    }
    println!("    mutants: {tally}");
    tally.nonzero("mutants")
}

/// Returns the names in the table.
///
/// # Errors
/// When the table cannot be read.
pub(crate) fn mutant_names() -> Result<BTreeSet<String>, String> {
    let mutants = parse(&repo::read(PATH)?)?;
    Ok(mutants.into_iter().map(|mutant| mutant.name).collect())
}

/// Returns true when a test fails on the mutant of this name.
///
/// # Errors
/// When the table cannot be read, or there is no such mutant, or it does not build.
pub(crate) fn is_caught(name: &str) -> Result<bool, String> {
    let all = parse(&repo::read(PATH)?)?;
    let mutant = all.iter().find(|mutant| mutant.name == name);
    let mutant = mutant.ok_or_else(|| format!("no mutant {name}"))?;
    Ok(mutant.caught(true)?.is_some())
}

impl Mutant {
    /// Builds the mutant and runs its tests; returns the first test that failed, if any.
    fn caught(&self, quick: bool) -> Result<Option<String>, String> {
        let how = Run {
            timeout: Duration::from_secs(120),
            quiet: true,
            ..Run::default()
        };
        let (_, endings) = run(&self.tests(quick)?, how)?;
        let failed = endings.into_iter().find(|ending| !ending.passed);
        Ok(failed.map(|ending| ending.id))
    }

    /// Builds the mutant; returns the tests that should catch it.
    fn tests(&self, quick: bool) -> Result<Vec<Case>, String> {
        let cfg = format!("pirn_mutant=\"{}\"", self.name);
        let build = match self.engine {
            // The whole runtime is tested by an integration test: every crate gets the flag.
            Engine::Shuttle | Engine::Migrating => {
                let targets = "--release --lib --test model";
                self.engine.build(quick, targets, &format!("--cfg {cfg}"))
            }
            // Only the library is rebuilt: its dependencies are unchanged. It is not optimized: a
            // mutant's models are small, and building takes most of the time.
            Engine::Loom | Engine::Native => {
                let plain = "profile.bench.package.pirn.opt-level=0";
                let targets = format!("--lib --profile bench --config {plain}");
                self.engine.build(quick, &targets, "").cfg(&cfg)
            }
            // The crates of the workspace are rebuilt: a campaign runs the whole runtime.
            Engine::Sim => Build::new("--package pirn-sim --test own")
                .folder("sim")
                .own_flags(&format!("sim-{}", self.name), &format!("--cfg {cfg}"))
                .debug("0"),
        };
        let mut chosen = cases(&build)?;
        chosen.retain(|case| self.catchers.iter().any(|c| fits(c, &case.name)));
        if chosen.is_empty() {
            let (name, catchers) = (&self.name, &self.catchers);
            return Err(format!("mutant {name}: no such test: {catchers:?}"));
        }
        Ok(chosen)
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

/// Returns the names of the bugs seeded in a file: the first string after each macro or `cfg` that
/// seeds one.
fn seeds(source: &Source) -> Vec<String> {
    let tokens: Vec<_> = source.tokens.iter().map(|t| t.text.as_str()).collect();
    let mut found = Vec::new();
    for (at, start) in tokens.windows(2).enumerate() {
        if !matches!(start, ["mutant" | "or_relaxed", "!"] | ["pirn_mutant", "="]) {
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
        assert_eq!(sim[0].engine, Engine::Sim);
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
            // mutant!(\"c\")\n cfg!(pirn_mutant = \"d\");\n cfg!(pirn_mutant = $name) }\n",
        );
        assert_eq!(seeds(&seeded), ["a", "b", "d"]);
        assert_eq!(check(TABLE, [&seeded].into_iter()).len(), 2);
        let said = check(TABLE, [&source("")].into_iter());
        assert_eq!(said, ["`a` is seeded nowhere"]);
    }
}

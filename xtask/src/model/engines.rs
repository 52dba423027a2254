//! Builds and runs the models of the library.
//!
//! loom models are unit tests named `model_…`; shuttle models are the tests of `tests/model`. Both
//! are built optimised, with assertions on, each in a target directory of its own.
//!
//! A quick run explores less: two preemptions in place of three, a twentieth of the schedules.

use std::time::Duration;

use super::{mutants, spin};
use crate::harness::{Build, Case, Run, cases, run};
use crate::options::Options;
use crate::tally::Tally;

/// The checker of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Engine {
    Loom,
    Shuttle,
    /// Shuttle, where fibers may migrate.
    Migrating,
    /// None, the ordinary build: a unit test or a campaign of `pirn-sim` catches a bug.
    Plain,
}

/// The engines, with their names in docs/models.md and on the command line.
const ENGINES: [(&str, Engine); 5] = [
    ("loom", Engine::Loom),
    ("shuttle", Engine::Shuttle),
    ("shuttle-free", Engine::Migrating),
    ("native", Engine::Plain),
    ("sim", Engine::Plain),
];

/// The flags of a build under loom: the checker, the parts of the library that it gets, and the
/// seeded bugs.
const LOOM: &str = "--cfg loom --cfg pirn_modelled --cfg pirn_parts --cfg pirn_mutants";
/// The flags of a build under shuttle.
const SHUTTLE: &str = "--cfg shuttle --cfg pirn_modelled --cfg pirn_mutants";

impl Engine {
    /// Returns the engine with this name in docs/models.md.
    pub(super) fn named(name: &str) -> Option<Engine> {
        let found = ENGINES.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, engine)| engine)
    }

    /// Returns true if it runs models, which another step runs without a mutant.
    pub(super) fn has_models(self) -> bool {
        self != Engine::Plain
    }

    /// Returns the build of this engine's tests. It contains all seeded bugs; `PIRN_MUTANT` turns on
    /// one, for a process.
    pub(crate) fn models_build(self, quick: bool) -> Build {
        let effort = if quick { "1" } else { "20" };
        let release = |targets: &str| {
            Build::new(&format!("--package pirn --release {targets}"))
                .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true")
                .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
                // Without LTO a build takes a quarter less time, and a run a tenth more.
                .env("CARGO_PROFILE_RELEASE_LTO", "off")
                .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "4")
                .env("RUST_BACKTRACE", "0")
        };
        match self {
            Engine::Loom => release("--lib")
                .flags("loom", LOOM)
                .env("LOOM_MAX_PREEMPTIONS", if quick { "2" } else { "3" }),
            Engine::Shuttle => release("--test model")
                .flags("shuttle", SHUTTLE)
                .env("PIRN_MODEL_EFFORT", effort),
            Engine::Migrating => release("--test model")
                .flags("shuttle-free", &format!("{SHUTTLE} --cfg pirn_free"))
                .env("PIRN_MODEL_EFFORT", effort),
            Engine::Plain => {
                Build::new("--package pirn --package pirn-sim --lib --test own")
                    .own_flags("mutants", "--cfg pirn_mutants")
                    .debug("none")
            }
        }
    }

    /// Builds the tests that catch this engine's seeded bugs. Random schedules run at full effort
    /// even in a quick run: a test ends at the first schedule that fails.
    pub(super) fn catchers(self) -> Result<Vec<Case>, String> {
        cases(&self.models_build(true).env("PIRN_MODEL_EFFORT", "20"))
    }

    /// Builds this engine's models.
    fn models(self, quick: bool) -> Result<Vec<Case>, String> {
        let is_model = |case: &Case| self != Engine::Loom || case.name.contains("model_");
        let mut models = cases(&self.models_build(quick))?;
        models.retain(|case| is_model(case) && case.ignored.is_none());
        Ok(models)
    }

    /// Runs this engine's models, or those with one of the words in their names: loom is exhaustive
    /// within bounds, shuttle tries schedules from fixed seeds. A model may take ten minutes in a
    /// quick run, an hour otherwise.
    ///
    /// # Errors
    /// When they do not build.
    pub(crate) fn run(self, options: &Options) -> Result<Tally, String> {
        let quick = options.has("quick");
        let mut models = self.models(quick)?;
        models.retain(|case| options.picks(&case.name));
        let how = Run {
            timeout: Duration::from_secs(60 * if quick { 10 } else { 60 }),
            verbose: true,
            ..Run::default()
        };
        let (tally, _) = run(&models, how.with(options)?)?;
        println!("    {self:?}: {tally}");
        Ok(tally)
    }
}

/// Runs every model of every checker, or those with one of the words in their names; with
/// `--mutants`, the seeded bugs instead.
///
/// # Errors
/// When nothing ran.
pub(crate) fn model(options: &Options) -> Result<Tally, String> {
    if options.has("mutants") {
        return mutants(options);
    }
    let only: Option<String> = options.value("engine")?;
    let is_chosen = |name: &str| only.as_ref().is_none_or(|only| only == name);
    let mut tally = Tally::default();
    // One that does not build must not stop the others.
    let mut add = |name: &str, ended: Result<Tally, String>| {
        tally += ended.unwrap_or_else(|said| {
            println!("    FAILED  {name}: {said}");
            Tally::check(false)
        });
    };
    let engines = ENGINES.iter().filter(|(_, engine)| engine.has_models());
    for (name, engine) in engines.filter(|(name, _)| is_chosen(name)) {
        add(name, engine.run(options));
    }
    if is_chosen("spin") {
        add("spin", spin(options));
    }
    tally.nonzero("models")
}

/// Builds every model of loom and shuttle for a quick run.
///
/// # Errors
/// When they do not build.
pub(crate) fn models() -> Result<Vec<Case>, String> {
    let mut models = Engine::Loom.models(true)?;
    models.extend(Engine::Shuttle.models(true)?);
    Ok(models)
}

//! Builds and runs the models of the library.
//!
//! loom models are unit tests named `model_…`; shuttle models are unit tests named
//! `shuttle_…` and everything in `tests/model`. Both are built optimised, with assertions
//! on, each in a target directory of its own.

use std::time::Duration;

use super::{mutants, spin};
use crate::harness::{Build, Case, Run, cases, run};
use crate::options::Options;
use crate::repo;
use crate::tally::Tally;

/// The part of the state space that a run explores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Two preemptions; fixed seeds, few schedules.
    Quick,
    /// Three preemptions; many schedules.
    Full,
}

impl Depth {
    fn of(options: &Options) -> Depth {
        if options.has("quick") {
            Depth::Quick
        } else {
            Depth::Full
        }
    }

    fn preemptions(self) -> &'static str {
        match self {
            Depth::Quick => "2",
            Depth::Full => "3",
        }
    }

    /// The factor for a shuttle model's own number of schedules.
    fn effort(self) -> &'static str {
        match self {
            Depth::Quick => "1",
            Depth::Full => "20",
        }
    }
}

/// The checker of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Loom,
    Shuttle,
    /// Shuttle, where fibers may migrate.
    Migrating,
    /// The ordinary build: a bug that a unit test catches.
    Native,
}

impl Engine {
    /// Returns the engine with this name in docs/models.md.
    pub(crate) fn named(name: &str) -> Option<Engine> {
        match name {
            "loom" => Some(Engine::Loom),
            "shuttle" => Some(Engine::Shuttle),
            "shuttle-free" => Some(Engine::Migrating),
            "native" => Some(Engine::Native),
            _ => None,
        }
    }

    /// Returns the build of the library under this engine, with additional `--cfg`s for every
    /// crate.
    pub(crate) fn build(self, depth: Depth, targets: &[&str], cfgs: &str) -> Build {
        let mut args = vec!["--package", "pirn"];
        args.extend_from_slice(targets);
        let build = Build::new(&args)
            .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
            .env("RUST_BACKTRACE", "0");
        match self {
            Engine::Loom => build
                .lane("loom", &format!("--cfg loom{cfgs}"))
                .env("LOOM_MAX_PREEMPTIONS", depth.preemptions()),
            Engine::Shuttle => build
                .lane("shuttle", &format!("--cfg shuttle{cfgs}"))
                .env("PIRN_MODEL_EFFORT", depth.effort()),
            Engine::Migrating => build
                .lane(
                    "shuttle-free",
                    &format!("--cfg shuttle --cfg pirn_free{cfgs}"),
                )
                .env("PIRN_MODEL_EFFORT", depth.effort()),
            Engine::Native => build.lane("native", cfgs.trim()),
        }
    }

    /// Returns true for a test that is one of this engine's models.
    fn owns(self, case: &Case) -> bool {
        match self {
            Engine::Loom => case.name.contains("model_"),
            Engine::Shuttle | Engine::Migrating => {
                case.name.contains("shuttle_") || case.binary.id == "pirn::model"
            }
            Engine::Native => false,
        }
    }

    /// Builds this engine's models.
    ///
    /// # Errors
    /// When they do not build.
    pub(crate) fn models(self, depth: Depth) -> Result<Vec<Case>, String> {
        let mut all = cases(&self.whole_build(depth).binaries()?)?;
        all.retain(|case| self.owns(case) && case.ignored.is_none());
        Ok(all)
    }

    /// The build of [`models`](Self::models).
    fn whole_build(self, depth: Depth) -> Build {
        let whole = repo::root().join("crates/pirn/tests/model").exists();
        let targets: &[&str] = match self {
            Engine::Shuttle | Engine::Migrating if whole => {
                &["--release", "--lib", "--test", "model"]
            }
            _ => &["--release", "--lib"],
        };
        self.build(depth, targets, "")
    }
}

/// Returns the builds of a quick run of [`engines`].
pub(crate) fn loom_build() -> Build {
    Engine::Loom.whole_build(Depth::Quick)
}

/// Returns the builds of a quick run of [`shuttle`].
pub(crate) fn shuttle_build() -> Build {
    Engine::Shuttle.whole_build(Depth::Quick)
}

/// Runs every model of every checker, or those with one of the words in their names; with
/// `--mutants`, the seeded bugs instead.
///
/// # Errors
/// When something does not build, or nothing ran.
pub(crate) fn model(options: &Options) -> Result<Tally, String> {
    if options.has("mutants") {
        return mutants(options);
    }
    let only: Option<String> = options.value("engine")?;
    let mut tally = Tally::default();
    for (name, engine) in ENGINES {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        // One that does not build must not stop the others.
        tally += engine(options).unwrap_or_else(|said| {
            println!("    FAILED  {name}: {said}");
            Tally::check(false)
        });
    }
    tally.nonzero("models")
}

/// Runs one checker.
type Lane = fn(&Options) -> Result<Tally, String>;

const ENGINES: &[(&str, Lane)] = &[
    ("loom", |options| lane(Engine::Loom, options)),
    ("shuttle", |options| lane(Engine::Shuttle, options)),
    ("shuttle-free", |options| lane(Engine::Migrating, options)),
    ("spin", spin::spin),
];

/// Builds every model of loom and shuttle for a quick run.
///
/// # Errors
/// When they do not build.
pub(crate) fn every() -> Result<Vec<Case>, String> {
    let mut models = Engine::Loom.models(Depth::Quick)?;
    models.extend(Engine::Shuttle.models(Depth::Quick)?);
    Ok(models)
}

/// Runs loom and Spin: exhaustive within bounds.
///
/// # Errors
/// When something does not build, or nothing ran.
pub(crate) fn engines(options: &Options) -> Result<Tally, String> {
    let mut tally = lane(Engine::Loom, options)?.nonzero("loom")?;
    tally += spin::spin(options)?;
    Ok(tally)
}

/// Runs shuttle: schedules from fixed seeds.
///
/// # Errors
/// When something does not build, or nothing ran.
pub(crate) fn shuttle(options: &Options) -> Result<Tally, String> {
    lane(Engine::Shuttle, options)?.nonzero("shuttle")
}

fn lane(engine: Engine, options: &Options) -> Result<Tally, String> {
    let mut models = engine.models(Depth::of(options))?;
    models.retain(|case| options.picks(&case.name));
    let (tally, _) = run(&models, how(options)?)?;
    println!("    {engine:?}: {tally}");
    Ok(tally)
}

/// Timeout of a model: ten minutes in a quick run, an hour otherwise.
fn how(options: &Options) -> Result<Run, String> {
    let minutes = if options.has("quick") { 10 } else { 60 };
    let seconds = options.value("timeout")?.unwrap_or(minutes * 60);
    Ok(Run {
        timeout: Duration::from_secs(seconds),
        jobs: options.value("jobs")?.unwrap_or(0),
        verbose: true,
        quiet: false,
    })
}

//! The builds of tests with other features or flags, and which of their tests run.
//!
//! A build has the name of the step of `ci` that runs its tests.

use crate::harness::Build;
use crate::sanitize::Sanitizer;
use crate::{model, programs};

/// Returns the build of a step.
///
/// # Errors
/// When the step has none, or needs something that the machine lacks.
pub(crate) fn build(step: &str) -> Result<Build, String> {
    Ok(match step {
        // The tests of every crate, as `cargo test` builds them.
        "test" | "timing" => Build::new("--workspace"),
        // Optimised code: no optimisation may carry an address of a thread-local over a suspension
        // point, no operation may exceed its number of read-modify-writes, wakes must cost little.
        "fat" => Build::new("--package pirn --test optimised --profile fat"),
        // The portable switch, parker and poller, which other systems would use.
        "portable" => {
            Build::new("--package pirn --features corosensei --lib --test machine")
                .own_flags("portable", "--cfg pirn_condvar --cfg pirn_polling")
                .debug("none")
        }
        // Waits and their ends where fibers may migrate.
        "free" => Build::new(
            "--package pirn --test it --test machine --test idle --test deadlock",
        )
        .own_flags("free", "--cfg pirn_free")
        .debug("none"),
        // The features `diagnostics` and `tracing`. Debuggers inspect it.
        "checked" => {
            Build::new("--package pirn --features diagnostics,tracing --test machine")
                .debug("full")
        }
        "bench" | "rows" => programs::build("bench"),
        "stress" => Build::new("--package pirn --release --test stress"),
        "programs" => programs::build("programs"),
        "model" => model::Engine::Loom.models_build(true),
        "shuttle" => model::Engine::Shuttle.models_build(true),
        "mutants" => model::Engine::Plain.models_build(true),
        "asan" => Sanitizer::Address.quick_build()?,
        "tsan" => Sanitizer::Thread.quick_build()?,
        _ => return Err(format!("no build {step}")),
    })
}

/// Returns the parts of the names of the tests that a step runs unless others are named, separated
/// by `|`; all if it is empty.
pub(crate) fn names(step: &str) -> &'static str {
    match step {
        "portable" => {
            "context::|parker| sockets::| socket_faults::| socket_waits::|readiness::| park::\
             | spawn| panics::| stack"
        }
        "free" => {
            " cancel::| channel_storm::| deadline::| deadlock | elastic::| futures| idle | join::\
             | loans| par_| park::| reports::| scope::| select::| shutdown::| sockets::\
             | socket_faults::| socket_waits::| structure::| timers::"
        }
        "checked" => {
            " checks::| spans::| environment::| frames::| panics::| spawn| stack| unwinding::"
        }
        _ => "",
    }
}

//! Runs one model under loom.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Explores every interleaving of `model` with at most `preemptions` involuntary switches
/// (`LOOM_MAX_PREEMPTIONS` overrides), and says how many there were.
pub(crate) fn explore(
    name: &str,
    preemptions: usize,
    model: impl Fn() + Send + Sync + 'static,
) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    let bound = builder.preemption_bound;
    // Not the shim's: counting is no part of what is modelled.
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&runs);
    let start = started();
    builder.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let runs = runs.load(Ordering::Relaxed);
    eprintln!(
        "{name}: {runs} executions, bound {bound:?}, {:?}",
        started() - start
    );
}

#[expect(clippy::disallowed_methods, reason = "loom's clock stands still")]
fn started() -> Instant {
    Instant::now()
}

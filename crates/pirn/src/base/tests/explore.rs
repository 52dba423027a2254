//! Runs one model under loom: a correct one, or one that must be found broken.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Explores every interleaving of `model` with at most `preemptions` involuntary switches
/// (`LOOM_MAX_PREEMPTIONS` overrides), and prints their number.
pub(crate) fn explore(
    name: &str,
    preemptions: usize,
    model: impl Fn() + Send + Sync + 'static,
) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    let bound = builder.preemption_bound;
    // Not from the shim: counting is not part of the model.
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

/// As [`explore`], for a protocol that is known to be broken.
///
/// # Panics
/// If loom finds no error, or another one than a panic with `symptom` in its message.
pub(crate) fn find(
    name: &str,
    preemptions: usize,
    symptom: &str,
    model: impl Fn() + Send + Sync + 'static,
) {
    let exploring = AssertUnwindSafe(|| explore(name, preemptions, model));
    let Err(panic) = catch_unwind(exploring) else {
        panic!("{name}: nothing found")
    };
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let said = text
        .or(panic.downcast_ref::<&str>().copied())
        .unwrap_or("not a text");
    assert!(
        said.contains(symptom),
        "{name}: found `{said}`, not `{symptom}`"
    );
}

#[expect(clippy::disallowed_methods, reason = "loom's clock stands still")]
fn started() -> Instant {
    Instant::now()
}

//! Kernels of concurrency bugs: campaigns find each of them, and its fixed version passes.
//!
//! Kernels of GoBench (Yuan et al., CGO 2021), written anew from descriptions. One file for each
//! project; a test has the name of the project's issue. Owns: how a kernel is searched. Does not
//! own: channels that stay open as in Go (`go`).

use std::env;
use std::sync::Arc;
use std::time::Duration;

use pirn_sim::{Campaign, Verdict};

mod body;
mod cockroach;
mod etcd;
mod go;
mod grpc;
mod hugo;
mod istio;
mod kubernetes;
mod moby;
mod serving;
mod syncthing;

/// Checks that campaigns find the deadlock of `bug`, and that `fixed` passes.
///
/// # Panics
/// If not.
pub(crate) fn kernel(
    bug: impl Fn() + Send + Sync + 'static,
    fixed: impl Fn() + Send + Sync + 'static,
) {
    search(bug, fixed, |verdict| {
        matches!(verdict, Verdict::Deadlock(_))
    });
}

/// As [`kernel`], for a bug that panics.
///
/// # Panics
/// If a bug is not found, or `fixed` fails.
pub(crate) fn kernel_that_panics(
    bug: impl Fn() + Send + Sync + 'static,
    fixed: impl Fn() + Send + Sync + 'static,
) {
    search(bug, fixed, |verdict| matches!(verdict, Verdict::Panic(_)));
}

/// Ten campaigns on `bug`, of which at most one may find nothing, and one on `fixed`.
fn search(
    bug: impl Fn() + Send + Sync + 'static,
    fixed: impl Fn() + Send + Sync + 'static,
    is_expected: impl Fn(&Verdict) -> bool,
) {
    let bug = Arc::new(bug);
    let found: Vec<_> = (0..10)
        .filter_map(|at| {
            let bug = Arc::clone(&bug);
            campaign(1_000).seed(at << 32).find(move || bug())
        })
        .collect();
    let unexpected = found.iter().find(|it| !is_expected(it.verdict()));
    assert!(unexpected.is_none(), "{}", unexpected.unwrap());
    let mut runs: Vec<_> = found.iter().map(|failure| failure.run()).collect();
    runs.sort_unstable();
    println!("found in run {runs:?}");
    assert!(runs.len() >= 9, "{} of 10 campaigns found it", runs.len());

    let runs = env::var("PIRN_GOKER_RUNS")
        .map(|runs| runs.parse().expect("PIRN_GOKER_RUNS is a number"));
    let failure = campaign(runs.unwrap_or(200)).seed(0).find(fixed);
    assert!(failure.is_none(), "{}", failure.unwrap());
}

/// A campaign of `runs` runs, however long they take.
fn campaign(runs: u64) -> Campaign {
    let campaign = pirn_sim::campaign().choices(CHOICES);
    campaign.runs(runs).for_real(Duration::MAX)
}

/// The choices of a run. Arbitrary: more than a kernel has, so that a loop without an end is
/// reported within seconds.
const CHOICES: u64 = 20_000;

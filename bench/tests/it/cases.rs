//! Cases of fork-join and of tails from end to end: a child for each library, as `compare` has
//! them.

use std::process::Command;
use std::time::Duration;

use pirn_bench::case::{self, Case, Kind, Tail, Talk};
use pirn_bench::harness::{Answer, Processors, Status, launch};
use pirn_bench::peers::{self, Peer, Program};

/// Returns the answer of one child of this peer, with rounds smaller by `factor`.
fn answer(case: &Case, peer: &Peer, factor: u64) -> Answer {
    let mut command = Command::new(env!("CARGO_BIN_EXE_compare"));
    let arguments = case.job.smaller(factor).arguments(case);
    command.args(["child", peer.name]).args(arguments);
    let processors = Processors::Last(case.job.workers);
    launch(command, processors, Duration::from_secs(120))
}

/// Checks that the peer fills every row of the case.
fn fills_every_row(case: &Case, peer: &Peer, factor: u64) {
    let answer = answer(case, peer, factor);
    let what = format!("{} {}: {answer:?}", case.name, peer.name);
    assert_eq!(answer.status, Status::Done, "{what}");
    for row in &case.rows {
        assert!(answer.value(row.series).is_some(), "{what}");
    }
    assert!(answer.samples.iter().all(|(_, value)| *value >= 0.0));
}

fn forks() -> impl Iterator<Item = &'static Case> {
    let is_fork = |case: &&Case| matches!(case.job.kind, Kind::Fork(_));
    case::table().iter().filter(is_fork)
}

// Proves: R14.
#[test]
fn every_library_fills_every_row_of_fork_join() {
    for case in forks() {
        for peer in peers::all().iter().filter(|peer| peer.fits(case)) {
            fills_every_row(case, peer, 50);
        }
    }
}

#[test]
fn plain_calls_take_part_in_fork_join_and_gzip_alone() {
    let serial = peers::all().iter().find(|peer| peer.name == "serial");
    let serial = serial.unwrap();
    for case in case::table().iter().filter(|case| serial.fits(case)) {
        assert!(matches!(case.job.kind, Kind::Fork(_)) || case.job.kind.is_gzip());
    }
    assert!(forks().all(|case| serial.fits(case)));
}

/// May's coroutines that yield starve those that have not started.
fn starves(peer: &str, work: Tail) -> bool {
    peer == "may" && matches!(work, Tail::Fresh | Tail::Message(1..))
}

#[test]
fn every_library_fills_every_row_of_tails() {
    for case in case::table() {
        let Kind::Tail(work) = case.job.kind else {
            continue;
        };
        // Other numbers of hogs run the same code.
        if matches!(work, Tail::Late { hogs, .. } if hogs != 2) {
            continue;
        }
        for peer in peers::all().iter().filter(|peer| peer.fits(case)) {
            let is_here = matches!(peer.program, Program::Here(_));
            if is_here && !starves(peer.name, work) {
                fills_every_row(case, peer, 20);
            }
        }
    }
}

/// The first case of each kind. Sleepers need a machine that starts a million in time, gzip and
/// servers other programs.
#[test]
fn every_library_has_or_skips_every_other_case() {
    for case in case::table() {
        let first = case::table()
            .iter()
            .find(|first| first.job.kind == case.job.kind);
        let other = match case.job.kind {
            _ if first.is_none_or(|first| first.name != case.name) => false,
            Kind::Fork(_) | Kind::Tail(_) | Kind::Net(_) => false,
            Kind::Talk(Talk::Sleepers) => false,
            kind => !kind.is_gzip(),
        };
        for peer in peers::all().iter().filter(|peer| other && peer.fits(case)) {
            if matches!(peer.program, Program::Here(_)) {
                let answer = answer(case, peer, 1000);
                let failed = matches!(answer.status, Status::Failed(_));
                assert!(!failed, "{} {}: {answer:?}", case.name, peer.name);
            }
        }
    }
}

//! The cases of fork-join from end to end: a child for each library, as `compare` has them.

use std::process::Command;
use std::time::Duration;

use pirn_bench::case::{self, Case, Kind};
use pirn_bench::child::Job;
use pirn_bench::harness::{Answer, Limits, Processors, Status, launch};
use pirn_bench::peers;

/// One child of this peer, with rounds smaller by `factor`.
fn one(peer: &str, case: &Case, factor: u64) -> Answer {
    let mut command = Command::new(env!("CARGO_BIN_EXE_compare"));
    let arguments = Job::from(case).smaller(factor).arguments(case);
    command.args(["child", peer]).args(arguments);
    launch(
        command,
        Limits {
            processors: Processors::Last(case.workers),
            time: Duration::from_secs(120),
        },
    )
}

fn forks() -> impl Iterator<Item = &'static Case> {
    let is_fork = |case: &&Case| matches!(case.kind, Kind::Fork(_));
    case::table().iter().filter(is_fork)
}

#[test]
fn every_library_fills_every_row_of_fork_join() {
    for case in forks() {
        for peer in peers::all().iter().filter(|peer| peer.fits(case)) {
            let answer = one(peer.name, case, 50);
            let what = format!("{} {}: {answer:?}", case.name, peer.name);
            assert_eq!(answer.status, Status::Done, "{what}");
            for row in &case.rows {
                let mut samples = answer.samples.iter();
                assert!(samples.any(|(series, _)| series == row.series), "{what}");
            }
            assert!(answer.samples.iter().all(|(_, value)| *value >= 0.0));
        }
    }
}

#[test]
fn plain_calls_take_part_in_fork_join_and_gzip_alone() {
    let serial = peers::all().iter().find(|peer| peer.name == "serial");
    let serial = serial.unwrap();
    let fits = |case: &&&Case| serial.fits(case);
    let cases: Vec<_> = case::table().iter().collect();
    for case in cases.iter().filter(fits) {
        assert!(matches!(case.kind, Kind::Fork(_)) || case.kind.is_gzip());
    }
    assert!(forks().all(|case| serial.fits(case)));
}

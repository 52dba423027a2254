//! The programs of tails from end to end: a child for each library, as `compare` has them.

use std::process::Command;
use std::time::Duration;

use pirn_bench::case::{self, Kind, Tail};
use pirn_bench::child::Job;
use pirn_bench::harness::{Limits, Processors, Status, launch};
use pirn_bench::peers::{self, Program};

/// May's coroutines that yield starve those that have not started.
fn starves(peer: &str, work: Tail) -> bool {
    peer == "may" && matches!(work, Tail::Fresh | Tail::Message(1..))
}

#[test]
fn every_library_fills_every_row_of_tails() {
    for case in case::table() {
        let Kind::Tail(work) = case.kind else {
            continue;
        };
        // Other numbers of hogs run the same code.
        if matches!(work, Tail::Late { hogs, .. } if hogs != 2) {
            continue;
        }
        for peer in peers::all().iter().filter(|peer| peer.fits(case)) {
            if !matches!(peer.program, Program::Here(_)) || starves(peer.name, work) {
                continue;
            }
            let mut command = Command::new(env!("CARGO_BIN_EXE_compare"));
            let arguments = Job::from(case).smaller(20).arguments(case);
            command.args(["child", peer.name]).args(arguments);
            let answer = launch(
                command,
                Limits {
                    processors: Processors::Last(case.workers),
                    time: Duration::from_secs(120),
                },
            );
            let what = format!("{} {}: {answer:?}", case.name, peer.name);
            assert_eq!(answer.status, Status::Done, "{what}");
            for row in &case.rows {
                let mut samples = answer.samples.iter();
                assert!(samples.any(|(series, _)| series == row.series), "{what}");
            }
            assert!(
                answer.samples.iter().all(|(_, value)| *value >= 0.0),
                "{what}"
            );
        }
    }
}

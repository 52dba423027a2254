//! The round robin.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::case::{Case, Kind};
use crate::gzip;
use crate::net;
use crate::peers::{Peer, Program};

use super::quiet::{self, is_quiet};
use super::{Answer, Limits, Plan, Processors, Results, Status, launch};

/// The programs of peers outside of this one: their paths, or the reasons why they are missing.
#[derive(Debug)]
pub struct Programs {
    /// This program.
    pub here: PathBuf,
    /// Built from `bench/go`.
    pub go: Result<PathBuf, String>,
    /// Built from `bench/boost`.
    pub boost: Result<PathBuf, String>,
    /// The gzip programs and their corpus.
    pub pgz: Result<gzip::Setup, String>,
}

/// Runs the plan, printing the progress line by line.
pub fn run(plan: &Plan, programs: &Programs, progress: impl Fn(&str)) -> Results {
    let mut results = Results::new(plan.cases.len(), plan.peers.len());
    for repetition in 0..plan.repetitions {
        let of = plan.repetitions;
        progress(&format!("repetition {} of {of}: floors", repetition + 1));
        results.floors.add(floors(programs));
        for (at, case) in plan.cases.iter().enumerate() {
            progress(&format!(
                "repetition {} of {of}: {}",
                repetition + 1,
                case.name
            ));
            let others = quiet::others();
            if let Some(others) = others.filter(|others| !is_quiet(*others)) {
                progress(&format!(
                    "NOT QUIET: other processes use {others:.2} processors"
                ));
            }
            results.note_others(at, others);
            for turn in 0..plan.peers.len() {
                let peer = (turn + repetition) % plan.peers.len();
                if plan.peers[peer].fits(case) && results.cells[at][peer].wants_more() {
                    let answer = one(plan, programs, case, plan.peers[peer]);
                    results.cells[at][peer].add(answer);
                }
            }
        }
    }
    results
}

fn floors(programs: &Programs) -> Answer {
    let mut command = Command::new(&programs.here);
    command.args(["child", "floors"]);
    launch(
        command,
        Limits {
            processors: Processors::Last(2),
            time: Duration::from_secs(120),
        },
    )
}

fn one(plan: &Plan, programs: &Programs, case: &Case, peer: &Peer) -> Answer {
    if case.kind.is_gzip() {
        return match &programs.pgz {
            Ok(setup) => setup.measure(peer.name, case),
            Err(reason) => Answer::empty(Status::Skipped(reason.clone())),
        };
    }
    if let Kind::Net(net) = case.kind {
        return net::measure(programs, peer.name, net, &plan.job(case), plan.patience());
    }
    let (program, name) = match &peer.program {
        Program::Here(_) => (Ok(&programs.here), Some(peer.name)),
        Program::Go => (programs.go.as_ref(), None),
        Program::Boost => (programs.boost.as_ref(), None),
        Program::Gzip => {
            return Answer::empty(Status::Skipped(gzip::ONLY_GZIP.to_owned()));
        }
        Program::Server => {
            return Answer::empty(Status::Skipped("serves only".to_owned()));
        }
    };
    let program = match program {
        Ok(program) => program,
        Err(reason) => return Answer::empty(Status::Skipped(reason.clone())),
    };
    let mut command = Command::new(program);
    if let Some(name) = name {
        command.args(["child", name]);
    }
    command.args(plan.job(case).arguments(case));
    launch(
        command,
        Limits {
            processors: Processors::Last(case.workers),
            time: plan.patience(),
        },
    )
}

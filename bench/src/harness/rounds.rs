//! The plan of one run of `compare`, and the round robin.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::base::{is_quiet, mix, others};
use crate::case::{Case, Kind};
use crate::child::Job;
use crate::gzip;
use crate::net;
use crate::peers::{Peer, Program};

use super::{Answer, Processors, Results, launch};

/// Cases, peers and repetitions.
#[derive(Clone, Debug)]
pub struct Plan {
    /// In the order of the table.
    pub cases: Vec<&'static Case>,
    /// In the order of the table.
    pub peers: Vec<&'static Peer>,
    /// Number of children for each case of each peer.
    pub repetitions: usize,
    /// Rounds of a tenth the size.
    pub quick: bool,
}

impl Plan {
    /// Returns the job for one child of `case`.
    pub fn job(&self, case: &Case) -> Job {
        match self.quick && !case.job.kind.is_gzip() {
            true => case.job.smaller(10),
            false => case.job,
        }
    }

    /// Returns the timeout of one child.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(if self.quick { 20 } else { 120 })
    }
}

/// The programs of peers outside of this one: their paths, or the reasons why they are missing.
#[derive(Debug)]
pub struct Programs {
    /// This program.
    pub here: PathBuf,
    /// Built from `bench/go`.
    pub go: Result<PathBuf, String>,
    /// Built from `bench/src/bin/hooked.rs`.
    pub hooked: Result<PathBuf, String>,
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
            let others = others();
            if let Some(others) = others.filter(|others| !is_quiet(*others)) {
                progress(&format!(
                    "NOT QUIET: other processes use {others:.2} processors"
                ));
            }
            results.note_others(at, others);
            for peer in turns(plan, case, repetition) {
                if results.cells[at][peer].wants_more() {
                    let answer = one(plan, programs, case, plan.peers[peer]);
                    results.cells[at][peer].add(answer);
                }
            }
        }
    }
    results
}

/// Returns the peers of `case` in the order of this repetition, a shuffled one: no peer always runs
/// behind the same other one, which may leave dirty pages or a processor that slept.
fn turns(plan: &Plan, case: &Case, repetition: usize) -> Vec<usize> {
    let mut peers: Vec<usize> = (0..plan.peers.len())
        .filter(|peer| plan.peers[*peer].fits(case))
        .collect();
    peers.sort_by_key(|peer| mix((repetition as u64) << 32 | *peer as u64));
    peers
}

fn floors(programs: &Programs) -> Answer {
    let mut command = Command::new(&programs.here);
    command.args(["child", "floors"]);
    launch(command, Processors::Last(2), Duration::from_secs(120))
}

fn one(plan: &Plan, programs: &Programs, case: &Case, peer: &Peer) -> Answer {
    if case.job.kind.is_gzip() {
        return match &programs.pgz {
            Ok(setup) => setup.measure(peer.name, case),
            Err(reason) => Answer::skipped(reason),
        };
    }
    if let Kind::Net(net) = case.job.kind {
        return net::measure(programs, peer.name, net, &plan.job(case), plan.patience());
    }
    let program = match &peer.program {
        Program::Here(_) => Ok(&programs.here),
        Program::Go => programs.go.as_ref(),
        Program::Boost => programs.boost.as_ref(),
        Program::Gzip => return Answer::skipped("compresses only"),
        Program::Server => return Answer::skipped("serves only"),
    };
    let mut command = match program {
        Ok(program) => Command::new(program),
        Err(reason) => return Answer::skipped(reason),
    };
    if let Program::Here(_) = peer.program {
        command.args(["child", peer.name]);
    }
    command.args(plan.job(case).arguments(case));
    launch(command, Processors::Last(case.job.workers), plan.patience())
}

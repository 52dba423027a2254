//! Runs a case: its server, its load, its answer.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::case::Net;
use crate::child::Job;
use crate::harness::{Answer, Limits, Processors, Programs, Status, launch};
use crate::net::cost::MIXED_EVERY;
use crate::net::server::Settings;

use super::calls;
use super::server::Server;
use super::tail::{MIXED_RATE, open, work};

/// Runs one repetition: a server, a load on it, and their results. A server that answers wrongly,
/// dies, or does not end with its input has failed, whatever the result of the load.
pub fn measure(
    programs: &Programs,
    peer: &str,
    net: Net,
    job: &Job,
    patience: Duration,
) -> Answer {
    let arguments = Settings::arguments(peer, job.workers, job.stack, net);
    let mut server = match (peer, &programs.go) {
        ("go", Ok(program)) => Command::new(program),
        ("go", Err(reason)) => {
            return Answer::empty(Status::Skipped(reason.clone()));
        }
        _ => {
            let mut command = Command::new(&programs.here);
            command.arg("child");
            command
        }
    };
    server.args(arguments);
    let bench = Bench {
        here: &programs.here,
        workers: job.workers,
        load: match net {
            Net::Work { .. } | Net::Mixed { .. } => Processors::Last(job.workers),
            Net::Open { .. } if job.workers > 1 => Processors::Last(job.workers),
            _ => Processors::First(1),
        },
        patience,
    };
    let answer = match net {
        Net::Calls { connections } => {
            let load = |requests| asked(connections, requests);
            calls::count(&bench, &server, job.n, &load)
        }
        Net::Echo { connections, depth } => {
            bench.run(server, Started::Server, &timed(job, connections, depth))
        }
        Net::Http { connections } => {
            let mut load = timed(job, connections, 1);
            load.push("--http".to_owned());
            bench.run(server, Started::Server, &load)
        }
        Net::Work {
            connections,
            micros,
        } => work(&bench, server, job, connections, micros),
        Net::Open { connections, http } => open(&bench, server, job, (connections, http)),
        Net::Mixed { connections } => {
            let connections = connections.min(job.n as usize);
            let load = words(&format!(
                "--connections {connections} --requests {} --rate {MIXED_RATE} --every {MIXED_EVERY}",
                job.n
            ));
            bench.run(server, Started::Server, &load)
        }
        Net::Idle => {
            let load = words(&format!("--idle --connections {}", job.n));
            bench.run(server, Started::Server, &load)
        }
    };
    answer.unwrap_or_else(|what| Answer::empty(Status::Failed(what)))
}

/// The shared data of every run of a case.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    /// The program of the loads.
    here: &'a Path,
    workers: usize,
    /// The processors of the load.
    load: Processors,
    patience: Duration,
}

/// The process that was started for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Started {
    /// The server: its processor time and memory can be read.
    Server,
    /// A tracer, with the server as its child.
    Tracer,
}

impl Bench<'_> {
    /// Starts the server, puts the load on it, ends the server.
    ///
    /// # Errors
    /// The error of the server, in words.
    pub(super) fn run(
        &self,
        server: Command,
        started: Started,
        load: &[String],
    ) -> Result<Answer, String> {
        let server = Server::start(server, self.workers)?;
        let answer = self.load(&server, started, load)?;
        server.end()?;
        Ok(answer)
    }

    /// Puts a load on a server that has started.
    ///
    /// # Errors
    /// As above.
    pub(super) fn load(
        &self,
        server: &Server,
        started: Started,
        load: &[String],
    ) -> Result<Answer, String> {
        let mut command = Command::new(self.here);
        command.args(["child", "load", "--port", &server.port().to_string()]);
        if started == Started::Server {
            command.args(["--pid", &server.process().to_string()]);
        }
        command.args(load);
        let limits = Limits {
            processors: self.load,
            time: self.patience,
        };
        let answer = launch(command, limits);
        if let Status::Failed(what) = &answer.status {
            return Err(format!("{what}{}", server.complaint()));
        }
        Ok(answer)
    }
}

/// The arguments of a load by the clock.
pub(super) fn timed(job: &Job, connections: usize, depth: usize) -> Vec<String> {
    let warmup = job.warmups * job.n / 4;
    words(&format!(
        "--connections {connections} --depth {depth} --time {} --warmup {warmup}",
        job.n
    ))
}

/// The arguments of a load by number.
fn asked(connections: usize, requests: u64) -> Vec<String> {
    words(&format!(
        "--connections {connections} --requests {requests}"
    ))
}

pub(super) fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

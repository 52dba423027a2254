//! Runs a case: its server, its load, its answer.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::case::Net;
use crate::child::Job;
use crate::harness::{Answer, Processors, Programs, Status, launch};
use crate::net::cost::MIXED_EVERY;
use crate::net::server::Settings;
use crate::peers::STD;

use super::calls;
use super::server::Server;

/// Requests in a second of the mixed load: with 1 % at 20 ms, half of what two processors have.
const MIXED_RATE: u64 = 5_000;

/// The fractions of the highest rate in an open loop, in percent.
const PARTS: [u64; 3] = [30, 60, 90];

/// Runs one repetition: a server, a load on it, and their results. A server that answers wrongly,
/// dies, or does not end with its input has failed, whatever the result of the load.
pub fn measure(
    programs: &Programs,
    peer: &str,
    net: Net,
    job: &Job,
    patience: Duration,
) -> Answer {
    let other = match peer {
        "go" => Some(&programs.go),
        STD => Some(&programs.hooked),
        _ => None,
    };
    let mut server = match other {
        Some(Ok(program)) => Command::new(program),
        Some(Err(reason)) => return Answer::skipped(reason),
        None => {
            let mut command = Command::new(&programs.here);
            command.arg("child");
            command
        }
    };
    server.args(Settings::arguments(peer, job.workers, job.stack, net));
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
    let n = job.n;
    let warmup = job.warmups * n / 4;
    let timed = format!("--time {n} --warmup {warmup}");
    let load = match net {
        Net::Echo { connections, depth } => {
            format!("--connections {connections} --depth {depth} {timed}")
        }
        Net::Http { connections } => {
            format!("--connections {connections} {timed} --http")
        }
        Net::Idle => format!("--connections {n} --idle"),
        Net::Mixed { connections } => {
            let connections = connections.min(n as usize);
            format!(
                "--connections {connections} --requests {n} --rate {MIXED_RATE} --every {MIXED_EVERY}"
            )
        }
        Net::Work { connections, .. } => {
            let connections = connections.min(n as usize);
            format!(
                "--connections {connections} --each {}",
                n / connections as u64
            )
        }
        Net::Open { connections, http } => {
            let http = if http { " --http" } else { "" };
            format!("--connections {connections}{http}")
        }
        Net::Calls { connections } => format!("--connections {connections}"),
    };
    let answer = match net {
        Net::Calls { .. } => calls::count(&bench, &server, n, &load),
        Net::Open { .. } => bench.open(server, &load, n, &timed),
        _ => bench.run(server, Started::Server, &load),
    };
    let answer = answer.and_then(|mut answer| {
        if let (Net::Work { micros, .. }, Status::Done) = (net, &answer.status) {
            // The whole time as a multiple of the ideal.
            let ideal = job.workers as f64 * 1e6 / micros as f64;
            answer
                .samples
                .push(("ideal".to_owned(), ideal / rate(&answer)?));
        }
        Ok(answer)
    });
    answer.unwrap_or_else(Answer::failed)
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
        load: &str,
    ) -> Result<Answer, String> {
        let server = Server::start(server, self.workers)?;
        let answer = self.load(&server, started, load)?;
        server.end()?;
        Ok(answer)
    }

    /// Finds the highest rate in a closed loop, then loads for `n` milliseconds at fractions of it.
    fn open(
        &self,
        server: Command,
        load: &str,
        n: u64,
        timed: &str,
    ) -> Result<Answer, String> {
        let server = Server::start(server, self.workers)?;
        let put = |load: &str| self.load(&server, Started::Server, load);
        let highest = rate(&put(&format!("{load} {timed}"))?)?;
        let mut samples = vec![("rate".to_owned(), highest)];
        for part in PARTS {
            let rate = highest * part as f64 / 100.0;
            let requests = (rate * n as f64 / 1e3).max(1.0) as u64;
            let answer = put(&format!("{load} --requests {requests} --rate {rate}"))?;
            let named = |(name, value)| (format!("{name}-{part}"), value);
            samples.extend(answer.samples.into_iter().map(named));
        }
        server.end()?;
        Ok(Answer::done(samples))
    }

    /// Puts a load on a server that has started.
    fn load(
        &self,
        server: &Server,
        started: Started,
        load: &str,
    ) -> Result<Answer, String> {
        let mut command = Command::new(self.here);
        command.args(["child", "load", "--port", &server.port().to_string()]);
        if started == Started::Server {
            command.args(["--pid", &server.process().to_string()]);
        }
        command.args(load.split_whitespace());
        let answer = launch(command, self.load, self.patience);
        if let Status::Failed(what) = &answer.status {
            return Err(format!("{what}{}", server.complaint()));
        }
        Ok(answer)
    }
}

fn rate(answer: &Answer) -> Result<f64, String> {
    let rate = answer.value("rate");
    rate.ok_or_else(|| "the load has no rate".to_owned())
}

//! The servers of tails: costly requests, and open loops at a fraction of the highest rate.

use std::process::Command;

use crate::child::Job;
use crate::harness::{Answer, Status};

use super::case::{Bench, Started, timed, words};
use super::server::Server;

/// Requests in a second of the mixed load: with 1 % at 20 ms, half of what two processors have.
pub(super) const MIXED_RATE: u64 = 5_000;

/// The fractions of the highest rate, in percent.
const PARTS: [u64; 3] = [30, 60, 90];

/// Runs requests that compute, and adds the whole time as a multiple of the ideal.
pub(super) fn work(
    bench: &Bench,
    server: Command,
    job: &Job,
    connections: usize,
    micros: u64,
) -> Result<Answer, String> {
    let connections = connections.min(job.n as usize);
    let each = job.n / connections as u64;
    let load = words(&format!("--connections {connections} --each {each}"));
    let mut answer = bench.run(server, Started::Server, &load)?;
    if answer.status == Status::Done {
        let ideal = job.workers as f64 * 1e6 / micros as f64;
        answer
            .samples
            .push(("ideal".to_owned(), ideal / rate(&answer)?));
    }
    Ok(answer)
}

/// Finds the highest rate in a closed loop, then loads at fractions of it.
pub(super) fn open(
    bench: &Bench,
    server: Command,
    job: &Job,
    (connections, http): (usize, bool),
) -> Result<Answer, String> {
    let http = if http { " --http" } else { "" };
    let server = Server::start(server, job.workers)?;
    let mut load = timed(job, connections, 1);
    load.extend(http.split_whitespace().map(str::to_owned));
    let closed = bench.load(&server, Started::Server, &load)?;
    let highest = rate(&closed)?;
    let mut samples = vec![("rate".to_owned(), highest)];
    for part in PARTS {
        let rate = highest * part as f64 / 100.0;
        let requests = (rate * job.n as f64 / 1e3).max(1.0) as u64;
        let load = words(&format!(
            "--connections {connections} --requests {requests} --rate {rate}{http}"
        ));
        let answer = bench.load(&server, Started::Server, &load)?;
        let named = |(name, value)| (format!("{name}-{part}"), value);
        samples.extend(answer.samples.into_iter().map(named));
    }
    server.end()?;
    Ok(Answer {
        status: Status::Done,
        samples,
    })
}

fn rate(answer: &Answer) -> Result<f64, String> {
    let found = answer.samples.iter().find(|(name, _)| name == "rate");
    found
        .map(|(_, rate)| *rate)
        .ok_or_else(|| "the load has no rate".to_owned())
}

//! `cargo xtask bench redis`: the program `kv` against redis-server, under redis-benchmark.
//!
//! Both servers run all the time. Each round measures one after the other, in alternating order, so
//! that other work on the machine affects both. The answers are checked afterwards: a server that
//! loses increments has no figures.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::options::Options;
use crate::tally::Tally;
use crate::{bounds, command, quiet, repo};

/// A running server; killed when dropped.
struct Server {
    child: Child,
    port: u16,
    /// Number of requested increments.
    increments: u64,
}

/// The loads: what redis-benchmark runs, with how many pipelined requests and bytes of a value.
const LOADS: [&str; 10] = [
    "set -P 1 -d 3",
    "get -P 1 -d 3",
    "set -P 1 -d 1024",
    "get -P 1 -d 1024",
    "incr -P 1 -d 3",
    "set -P 16 -d 3",
    "get -P 16 -d 3",
    "set -P 16 -d 1024",
    "get -P 16 -d 1024",
    "incr -P 16 -d 3",
];

const CLIENTS: &str = "50";

/// Number of rounds that a verdict needs.
const ENOUGH: usize = 7;

/// Measures, and prints a table: medians of the rounds, and the ratio of kv's to Redis's.
///
/// # Errors
/// When a program is missing or fails, or a value is wrong.
pub(crate) fn compare(args: &[String]) -> Result<Tally, String> {
    let options = Options::parse(args, "[--quick] [--reps N] [--workers N]")?;
    let quick = options.has("quick");
    let rounds = options.value("reps")?.unwrap_or(if quick { 2 } else { 5 });
    let requests = if quick { 100_000 } else { 1_000_000 };
    bounds::read()?;
    let kv = build()?;
    let mut ours = command::program(kv);
    ours.args(["--listen", "127.0.0.1:0"]);
    if let Some(workers) = options.value::<String>("workers")? {
        ours.args(["--workers", &workers]);
    }
    let mut servers = [redis()?, Server::started(ours, None)?];
    let version = command::output(command::program("redis-server").arg("--version"))?;
    println!("{}", version.trim());
    println!("{rounds} rounds of {requests} requests, {CLIENTS} clients");
    println!("| load | redis-server | kv | quotient | of rounds |");
    println!("|---|--:|--:|--:|---|");
    let mut tally = Tally::default();
    let mut verdicts = Vec::new();
    for load in LOADS {
        let others = quiet::others();
        let is_quiet = others.is_some_and(quiet::is_quiet);
        if !is_quiet {
            println!("NOT QUIET: other processes use {others:?} processors; no verdict");
        }
        let mut rates = [Vec::new(), Vec::new()];
        for round in 0..rounds {
            for turn in 0..2 {
                let which = (round + turn) % 2;
                rates[which].push(servers[which].loaded(load, requests)?);
            }
        }
        let quotient = print_row(load, &rates);
        if is_quiet && !quick && rounds >= ENOUGH {
            verdicts.push(verdict(load, quotient));
        }
        tally += Tally::check(true);
    }
    for server in &servers {
        server.check()?;
    }
    bounds::record(&verdicts.join("\n"))?;
    Ok(tally)
}

/// Returns the verdict on a load, as a line for [`bounds::record`].
fn verdict(load: &str, quotient: f64) -> String {
    let kept = if quotient >= 1.0 { "KEPT" } else { "MISSED" };
    format!("{load}\trequests answered\t≥ 1 × redis-server\t{kept}\t{quotient:.3}")
}

/// Builds kv; returns its path.
fn build() -> Result<PathBuf, String> {
    let target = repo::target(Some("programs"));
    let mut cargo = command::cargo("build --quiet --release --bin kv");
    cargo.args(["--manifest-path", "programs/Cargo.toml"]);
    command::run(cargo.env("CARGO_TARGET_DIR", &target))?;
    Ok(target.join("release/kv"))
}

/// Starts redis-server without persistence, like kv.
fn redis() -> Result<Server, String> {
    // It cannot choose a free port itself: take one that was free a moment ago.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr());
    let port = free.map_err(|e| format!("no free port: {e}"))?.port();
    let mut redis = command::program("redis-server");
    redis.args(["--save", "", "--appendonly", "no"]);
    redis.args(["--port", &port.to_string()]);
    Server::started(redis, Some(port))
}

impl Server {
    /// Starts a server on this port, or on the one that it prints in its first line.
    fn started(mut command: Command, port: Option<u16>) -> Result<Server, String> {
        let name = command.get_program().display().to_string();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{name}: {e}"))?;
        let output = child.stdout.take().map(BufReader::new);
        let mut lines = output.into_iter().flat_map(BufRead::lines);
        let said = match port {
            None => lines.next().and_then(Result::ok).unwrap_or_default(),
            Some(port) => format!("port:{port}"),
        };
        // A server's output is read, or the server would block on a full pipe.
        thread::spawn(move || lines.for_each(drop));
        let port = said.rsplit(':').next().and_then(|port| port.parse().ok());
        let server = Server {
            child,
            port: port.ok_or(format!("{name} said `{said}` first"))?,
            increments: 0,
        };
        for _ in 0..500 {
            if TcpStream::connect(("127.0.0.1", server.port)).is_ok() {
                return Ok(server);
            }
            thread::sleep(Duration::from_millis(10));
        }
        Err(format!("{name} does not listen"))
    }

    /// Returns the requests a second under a load.
    fn loaded(&mut self, load: &str, requests: u64) -> Result<f64, String> {
        let mut benchmark = command::program("redis-benchmark");
        benchmark.args(["-p", &self.port.to_string(), "--csv", "-c", CLIENTS]);
        benchmark.args(["-n", &requests.to_string(), "-t"]);
        let said = command::output(benchmark.args(load.split(' ')))?;
        let size = load.rsplit(' ').next().and_then(|size| size.parse().ok());
        if load.starts_with("incr") {
            self.increments += requests;
        } else {
            let value = self.asked("GET", "key:__rand_int__")?;
            if load.starts_with("set") && size != Some(value.len()) {
                return Err(format!("a value of {} bytes", value.len()));
            }
        }
        let rate = said.lines().last().and_then(|line| line.split('"').nth(3));
        rate.and_then(|rate| rate.parse().ok())
            .ok_or(format!("redis-benchmark said `{said}`"))
    }

    fn asked(&self, command: &str, key: &str) -> Result<String, String> {
        let mut cli = command::program("redis-cli");
        cli.args(["-p", &self.port.to_string(), command, key]);
        Ok(command::output(&mut cli)?.trim_end().to_owned())
    }

    /// # Errors
    /// When an increment has been lost.
    fn check(&self) -> Result<(), String> {
        let counted = self.asked("GET", "counter:__rand_int__")?;
        if counted == self.increments.to_string() {
            return Ok(());
        }
        let asked = self.increments;
        Err(format!("{counted} increments, and {asked} were asked for"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail if it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the median quotient.
fn print_row(load: &str, rates: &[Vec<f64>; 2]) -> f64 {
    let quotients: Vec<f64> =
        rates[0].iter().zip(&rates[1]).map(|(a, b)| b / a).collect();
    let lowest = quotients.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = quotients.iter().copied().fold(0.0, f64::max);
    let quotient = median(&quotients);
    println!(
        "| {load} | {:.0} | {:.0} | {quotient:.2} | {lowest:.2} to {highest:.2} |",
        median(&rates[0]),
        median(&rates[1]),
    );
    quotient
}

/// Returns the middle one, or the mean of the two in the middle.
fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_has_the_words_of_its_bound() {
        let load = LOADS[1];
        let line = verdict(load, 0.9996);
        assert_eq!(
            line,
            "get -P 1 -d 3\trequests answered\t≥ 1 × redis-server\tMISSED\t1.000"
        );
        let table = repo::read(bounds::PATH).unwrap();
        assert!(
            table.contains("| get -P 1 -d 3 | requests answered | ≥ 1 × redis-server |")
        );
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}

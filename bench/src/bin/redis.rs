//! `cargo xtask bench redis`: the program `kv` against redis-server, under redis-benchmark.
//!
//! Both servers run all the time. Each round measures one after the other, in alternating order, so
//! that other work on the machine affects both. The answers are checked afterwards: a server that
//! loses increments has no figures.

use std::fmt::Write;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use clap::Parser;
use pirn_bench::base::{Machine, Summary, is_quiet, others, verdict_line};

/// Measures kv and redis-server in turns.
#[derive(Debug, Parser)]
struct Options {
    /// The built program `kv`.
    #[arg(long)]
    kv: PathBuf,
    /// A tenth of the requests, and two rounds.
    #[arg(long)]
    quick: bool,
    /// Number of rounds.
    #[arg(long)]
    reps: Option<usize>,
    /// Number of workers of `kv`.
    #[arg(long)]
    workers: Option<String>,
    /// Writes the figures to bench/results/NAME.tsv as well, for `compare --page`.
    #[arg(long, value_name = "NAME")]
    save: Option<String>,
    /// Writes the verdicts to this file.
    #[arg(long, value_name = "FILE")]
    verdicts: Option<PathBuf>,
}

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

/// The title of the only row of each load.
const ROW: &str = "requests answered";

/// Number of rounds that a verdict needs.
const ENOUGH: usize = 7;

fn main() -> ExitCode {
    match compare(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("redis: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Measures, and prints a table: medians of the rounds, and the ratio of kv's to Redis's.
fn compare(options: &Options) -> Result<(), String> {
    let quick = options.quick;
    let rounds = options.reps.unwrap_or(if quick { 2 } else { 5 });
    let requests = if quick { 100_000 } else { 1_000_000 };
    let mut ours = Command::new(&options.kv);
    ours.args(["--listen", "127.0.0.1:0"]);
    if let Some(workers) = &options.workers {
        ours.args(["--workers", workers]);
    }
    let mut servers = [redis()?, Server::started(ours, None)?];
    let version = output(Command::new("redis-server").arg("--version"))?;
    let mut file = head(&version, rounds, requests);
    println!("{}", version.trim());
    println!("{rounds} rounds of {requests} requests, {CLIENTS} clients");
    println!("| load | redis-server | kv | quotient | of rounds |");
    println!("|---|--:|--:|--:|---|");
    let mut verdicts = Vec::new();
    for load in LOADS {
        let others = others();
        let is_quiet = others.is_some_and(is_quiet);
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
        let quotient = add_row(&mut file, load, &rates);
        if !is_quiet {
            let _ = writeln!(file, "noise\t{load}\t{ROW}\tNOT QUIET");
        }
        if is_quiet && !quick && rounds >= ENOUGH {
            verdicts.push(verdict(load, quotient));
        }
    }
    for server in &servers {
        server.check()?;
    }
    if let Some(name) = &options.save {
        let path = format!("{}/results/{name}.tsv", env!("CARGO_MANIFEST_DIR"));
        fs::write(&path, file).map_err(|e| format!("{path}: {e}"))?;
    }
    let Some(path) = &options.verdicts else {
        return Ok(());
    };
    fs::write(path, verdicts.join("\n")).map_err(|e| format!("{}: {e}", path.display()))
}

/// Returns the verdict on a load.
fn verdict(load: &str, quotient: f64) -> String {
    let bound = "≥ 1 × redis-server";
    verdict_line(load, ROW, bound, quotient >= 1.0, quotient)
}

/// Runs to the end and returns what it wrote to its standard output.
fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().display().to_string();
    let out = command.stderr(Stdio::inherit()).output();
    let out = out.map_err(|e| format!("{name}: {e}"))?;
    if !out.status.success() {
        return Err(format!("{name}: {}", out.status));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Starts redis-server without persistence, like kv.
fn redis() -> Result<Server, String> {
    // It cannot choose a free port itself: take one that was free a moment ago.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr());
    let port = free.map_err(|e| format!("no free port: {e}"))?.port();
    let mut redis = Command::new("redis-server");
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
        let mut benchmark = Command::new("redis-benchmark");
        benchmark.args(["-p", &self.port.to_string(), "--csv", "-c", CLIENTS]);
        benchmark.args(["-n", &requests.to_string(), "-t"]);
        let said = output(benchmark.args(load.split(' ')))?;
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
        let mut cli = Command::new("redis-cli");
        cli.args(["-p", &self.port.to_string(), command, key]);
        Ok(output(&mut cli)?.trim_end().to_owned())
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

/// Returns the first records of a file of `bench/results`.
fn head(version: &str, rounds: usize, requests: u64) -> String {
    let mut file = String::new();
    // `Redis server v=7.0.15 sha=…`
    let number = version.split(['=', ' ']).nth(3);
    for (name, fact) in Machine::here().facts() {
        let fact = match name {
            "peers" => format!("redis-server {}", number.unwrap_or("?")),
            _ => fact,
        };
        let _ = writeln!(file, "head\t{name}\t{fact}");
    }
    let _ = writeln!(file, "head\trepetitions\t{rounds}");
    let _ = writeln!(
        file,
        "note\t{rounds} rounds of {requests} requests, {CLIENTS} clients of redis-benchmark; \
         multiples are medians of the quotients of rounds; `rounds` has the least and the greatest."
    );
    file
}

/// Prints the row of a load, and adds its records to `file`. Returns the median quotient.
fn add_row(file: &mut String, load: &str, rates: &[Vec<f64>; 2]) -> f64 {
    let quotients: Vec<f64> =
        rates[0].iter().zip(&rates[1]).map(|(a, b)| b / a).collect();
    let lowest = quotients.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = quotients.iter().copied().fold(0.0, f64::max);
    let quotient = median(&quotients);
    let [theirs, ours] = [0, 1].map(|which| median(&rates[which]));
    let range = format!("{lowest:.2} to {highest:.2}");
    println!("| {load} | {theirs:.0} | {ours:.0} | {quotient:.2} | {range} |");
    let rounds = quotients.len();
    let mut add = |peer: &str, rate: f64, times: f64| {
        let figure = format!("figure\t{load}\t{ROW}\t/s\t{peer}\t{rate:.0}");
        let _ = writeln!(file, "{figure}\t-\t-\t-\t-\t{rounds}\t{times:.2}\t-");
    };
    add("redis-server", theirs, 1.0);
    add("kv", ours, quotient);
    let _ = writeln!(file, "rounds\t{load}\t{lowest:.2}\t{highest:.2}");
    quotient
}

fn median(numbers: &[f64]) -> f64 {
    Summary::of(numbers).map_or(f64::NAN, |summary| summary.median)
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
        let table = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/BOUNDS.md"));
        let table = table.unwrap();
        assert!(
            table.contains("| get -P 1 -d 3 | requests answered | ≥ 1 × redis-server |")
        );
    }

    #[test]
    fn the_file_has_the_median_quotient_beside_the_medians() {
        let mut file = String::new();
        let rates = [vec![10.0, 20.0, 40.0], vec![10.0, 40.0, 30.0]];
        assert_eq!(add_row(&mut file, LOADS[0], &rates), 1.0);
        assert!(
            file.contains("\tkv\t30\t-\t-\t-\t-\t3\t1.00\t-\n"),
            "{file}"
        );
        assert!(
            file.ends_with("rounds\tset -P 1 -d 3\t0.75\t2.00\n"),
            "{file}"
        );
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.0);
    }
}

//! A server for clients of Redis: strings, counters, times to live, transactions; RESP2 and RESP3.
//!
//! A connection is a fiber that reads, answers all requests of the read, and writes all answers at
//! once: one read and one write for each round trip, whatever is pipelined. Nothing is allocated
//! for a request that overwrites or reads a small value; a large one is never copied.
//!
//! * `input`, `request`: bytes to requests, as Redis splits them.
//! * `large`, `blob`: large strings, received apart and shared.
//! * `answers`: results to bytes.
//! * `commands`: the commands, by family, with the words of Redis for refusals.
//! * `client`: the name, the protocol and the transaction of one client.
//! * `store`: the keys, in shards, each a table behind a lock; their times to live; watched keys.
//! * `database`: the store, the limit of its memory, the clients.
//! * `connection`: the loop of one connection.
//!
//! Shards are tables behind locks, and not fibers behind channels. An uncontended lock is acquired
//! and released in a few nanoseconds, and held while one value is copied. A request and its answer
//! would be two hand-overs, and copies of key and value. `cargo xtask bench redis` compares the
//! server with redis-server.

mod answers;
mod blob;
mod client;
mod commands;
mod connection;
mod database;
mod decimal;
mod glob;
mod input;
mod integer;
mod large;
mod request;
mod store;
mod words;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;
use pirn::runtime;
use pirn_programs::{Server, exit};

use crate::database::Database;

/// Keeps strings, for clients of Redis.
#[derive(Parser)]
#[command(name = "kv")]
struct Args {
    /// Where to listen; port 0 stands for one that is free
    #[arg(long, default_value = "127.0.0.1:6379")]
    listen: String,
    /// Threads that run connections [default: one for each core]
    #[arg(long)]
    workers: Option<usize>,
    /// The most memory of keys and values, such as 100mb; 0 stands for no limit. What would exceed
    /// it is refused, nothing is removed for it. Buffers of connections do not count
    #[arg(long, default_value = "0", value_parser = bytes)]
    maxmemory: usize,
    /// Seconds that connections have to end after SIGTERM
    #[arg(long, default_value_t = 10)]
    grace: u64,
}

fn main() -> ExitCode {
    let args = Args::parse();
    exit("kv", run(&args))
}

fn run(args: &Args) -> anyhow::Result<()> {
    let mut builder = runtime::Builder::new();
    if let Some(workers) = args.workers {
        builder = builder.workers(workers);
    }
    let runtime = builder.build().context("cannot start the runtime")?;
    runtime.run(|| {
        let server = Server::new(&args.listen, Duration::from_secs(args.grace))?;
        let stop = server.stop();
        let database = Arc::new(Database::new(args.maxmemory));
        let (swept, until) = (Arc::clone(&database), stop.clone());
        let sweeper = pirn::spawn(move || swept.store.sweep(&until));
        let served =
            server.run(move |stream| connection::serve(stream, &database, &stop));
        sweeper
            .join()
            .context("the sweeper of expired keys failed")??;
        served
    })
}

/// A number of bytes with a unit, as `redis.conf` has them.
fn bytes(text: &str) -> Result<usize, String> {
    let text = text.to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "b" => Some(1),
        "k" => Some(1000),
        "kb" => Some(1 << 10),
        "m" => Some(1_000_000),
        "mb" => Some(1 << 20),
        "g" => Some(1_000_000_000),
        "gb" => Some(1 << 30),
        _ => None,
    };
    let number = digits.parse().ok().zip(unit);
    let bytes =
        number.and_then(|(number, unit): (usize, usize)| number.checked_mul(unit));
    bytes.ok_or_else(|| format!("`{text}` is no size: write bytes, or 100mb, or 1gb"))
}

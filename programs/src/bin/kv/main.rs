//! A server that `redis-cli`, `redis-benchmark` and most clients of Redis take for theirs: strings,
//! counters and times to live, over RESP2.
//!
//! A connection is a fiber that reads, answers all requests that the read has brought, and writes
//! all answers at once: one read and one write for each round trip, whatever is pipelined. Nothing
//! is allocated for a request that overwrites or reads a value.
//!
//! * `input`: bytes to requests, as Redis splits them.
//! * `answers`: results to bytes.
//! * `commands`: what each command does, with the words of Redis for what it refuses.
//! * `store`: the keys, in shards, each a table behind a lock; and their times to live.
//! * `connection`: the loop of one connection.
//!
//! Why shards are tables behind locks, and not fibers that are asked over channels: a lock that nobody
//! holds is taken and given back in a few nanoseconds, and it is held for no longer than it takes to
//! copy a value; a question and its answer are two hand-overs, and copies of key and value.
//! `cargo xtask bench redis` compares the server with redis-server.

mod answers;
mod commands;
mod connection;
mod input;
mod integer;
mod store;
mod words;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;
use pirn::runtime;
use pirn_programs::{Server, exit};

use crate::commands::Database;

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
        let database = Arc::new(Database::new());
        let (swept, until) = (Arc::clone(&database), stop.clone());
        let sweeper = pirn::spawn(move || swept.store.sweep(&until));
        let served =
            server.run(move |stream| connection::serve(stream, &database, &stop));
        sweeper.join().context("what removes keys has failed")??;
        served
    })
}

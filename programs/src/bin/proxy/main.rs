//! A reverse proxy for HTTP/1.1: hyper for the protocol, fibers for the rest.
//!
//! * `connection`: one client; a fiber that waits for hyper's future, and notifies it of a
//!   shutdown.
//! * `forward`: one request, on a fiber of its own in plain code: it chooses a backend, waits for
//!   its turn, sends the request, and tries another backend if the first one has not received it or
//!   the request may be repeated.
//! * `backend`: a server behind the proxy, with its idle connections, its limit and its state.
//! * `health`: asks each backend from time to time whether it is up.
//! * `answer`: bodies that are passed on piece by piece.
//! * `metrics`: the counters, at `/proxy/metrics` for clients of this machine.
//!
//! A client that reads its answer slowly keeps its turn at the backend: there is no limit on that.
//!
//! At SIGTERM the proxy accepts no more connections, and ends when all requests are answered.

mod answer;
mod backend;
mod connection;
mod forward;
mod health;
mod metrics;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use pirn::cancel::Token;
use pirn_programs::{CONNECTIONS, Server, exit, seconds};

use crate::forward::{Limits, Proxy};

/// Passes requests over HTTP/1.1 on to one of several servers.
#[derive(Parser)]
#[command(name = "proxy")]
struct Args {
    /// Where to listen; port 0 stands for one that is free
    #[arg(long, default_value = "127.0.0.1:8000")]
    listen: String,
    /// The address of a server that answers; can be given several times
    #[arg(long = "to", required = true)]
    backends: Vec<SocketAddr>,
    /// How many requests each of them answers at once
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    at_once: u16,
    /// Seconds that a request waits for its turn at one of them; then the answer is 503
    #[arg(long, default_value = "1", value_parser = seconds)]
    wait: Duration,
    /// Seconds that a backend has for the head of its answer; then the answer is 504
    #[arg(long, default_value = "30", value_parser = seconds)]
    limit: Duration,
    /// The path that says whether a backend is up, by a status of 200 to 299
    #[arg(long, default_value = "/")]
    health: String,
    /// Seconds between two questions whether a backend is up
    #[arg(long, default_value = "1", value_parser = seconds)]
    every: Duration,
    /// How many connections of clients there are at once; others wait to be accepted
    #[arg(long, default_value_t = CONNECTIONS)]
    connections: usize,
    /// Seconds that requests have to end after SIGTERM
    #[arg(long, default_value_t = 5)]
    grace: u64,
}

fn main() -> ExitCode {
    let args = Args::parse();
    exit("proxy", pirn::run(|| run(&args)))
}

fn run(args: &Args) -> anyhow::Result<()> {
    let server = Server::new(&args.listen, Duration::from_secs(args.grace))?;
    let limits = Limits {
        wait: args.wait,
        answer: args.limit,
    };
    let proxy = Proxy::new(&args.backends, args.at_once.into(), limits);
    let proxy = Arc::new(proxy);
    let checks = &Token::new();
    pirn::scope(|s| {
        for backend in proxy.backends() {
            let check = || health::check(backend, &args.health, args.every);
            s.spawn(move || checks.enter(check));
        }
        let (shared, stop) = (Arc::clone(&proxy), server.stop());
        let served = server
            .connections(args.connections)
            .run(move |stream| connection::serve(stream, &shared, &stop));
        checks.cancel();
        served
    })
}

//! A reverse proxy for HTTP/1.1: hyper for the protocol, fibers for the rest.
//!
//! * `connection`: one client; a fiber that waits for hyper's future, and notifies it of a
//!   shutdown.
//! * `forward`: one request, on a fiber of its own in plain code: it chooses a backend, waits for
//!   its turn, sends the request, and tries another backend if the first one has not received it or
//!   the request may be repeated.
//! * `backend`: a server behind the proxy, with its idle connections, its limit and its state.
//! * `health`: asks each backend from time to time whether it is up.
//! * `stall`: the time limit of a client that does not read its answer.
//! * `answer`, `upload`: bodies that are passed on piece by piece.
//! * `metrics`: the counters, at `/proxy/metrics` for clients of this machine.
//!
//! At SIGTERM the proxy accepts no more connections, and ends when all requests are answered.

mod answer;
mod backend;
mod connection;
mod forward;
mod health;
mod metrics;
mod stall;
mod upload;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use hyper::http::uri::PathAndQuery;
use pirn::cancel::Token;
use pirn_programs::{CONNECTIONS, Server, connections, exit, seconds};

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
    /// Seconds from the beginning of a request at a backend, with the client's upload, to the head
    /// of the answer; then the answer is 504
    #[arg(long, default_value = "30", value_parser = seconds)]
    limit: Duration,
    /// Seconds without a read after which a client with an unfinished answer is disconnected, and
    /// without a byte after which one with an unfinished upload is
    #[arg(long, default_value = "30", value_parser = seconds)]
    stall: Duration,
    /// The path that says whether a backend is up, by a status of 200 to 299
    #[arg(long, default_value = "/", value_parser = path)]
    health: PathAndQuery,
    /// Seconds between two questions whether a backend is up
    #[arg(long, default_value = "1", value_parser = seconds)]
    every: Duration,
    /// How many connections of clients there are at once; others wait to be accepted
    #[arg(long, default_value_t = CONNECTIONS, value_parser = connections)]
    connections: usize,
    /// Seconds that requests have to end after SIGTERM
    #[arg(long, default_value_t = 5)]
    grace: u64,
}

/// Reads the path of a request.
fn path(text: &str) -> Result<PathAndQuery, String> {
    let path = text.parse().ok().filter(|_| text.starts_with('/'));
    path.ok_or_else(|| "a path is needed, such as /health".to_owned())
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
        upload: args.stall,
    };
    let proxy = Proxy::new(&args.backends, args.at_once.into(), limits);
    let proxy = Arc::new(proxy);
    let checks = &Token::new();
    pirn::scope(|s| {
        for backend in proxy.backends() {
            let check = || health::check(backend, &args.health, args.every);
            s.spawn(move || checks.enter(check));
        }
        let (shared, stop, stall) = (Arc::clone(&proxy), server.stop(), args.stall);
        let served = server
            .connections(args.connections)
            .run(move |stream| connection::serve(stream, &shared, stall, &stop));
        checks.cancel();
        served
    })
}

//! A web server: hyper for HTTP/1.1 and HTTP/2, axum for the routes, fibers for the rest.
//!
//! * `connection`: one client; a fiber that waits for hyper's future, and notifies it of a
//!   shutdown.
//! * `pace`: the time limits of a client; `bodies`, with limits; `service`, which applies both.
//! * `routes`: the handlers of requests. A handler that waits or computes does so on a fiber of its
//!   own, in plain code.
//! * `computing`: bounds the numbers of computing and of waiting requests.
//! * `notes`: the stored notes, with a bound on their bytes and on those of their lists.

mod bodies;
mod computing;
mod connection;
mod notes;
mod pace;
mod routes;
mod service;
#[cfg(test)]
#[path = "../../../../crates/pirn/src/base/tests/unmeasured.rs"]
mod unmeasured;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use pirn_programs::{CONNECTIONS, Server, connections, exit, seconds};

use crate::computing::Computing;
use crate::connection::Limits;

/// Keeps notes, and answers over HTTP/1.1 and HTTP/2.
#[derive(Parser)]
#[command(name = "web")]
struct Args {
    /// Where to listen; port 0 stands for one that is free
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: String,
    /// Seconds that a client has for the head of a request, from its connection or the last answer
    /// on
    #[arg(long, default_value = "30", value_parser = seconds)]
    patience: Duration,
    /// Seconds that a client has to send the body of a request, and to read an answer
    #[arg(long, default_value = "60", value_parser = seconds)]
    body: Duration,
    /// How many requests compute at once
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    computing: u16,
    /// How many requests more wait until they may compute; others are sent away
    #[arg(long, default_value_t = 32)]
    waiting: u16,
    /// The most bytes of all notes, with their names; a note that would exceed it is refused. The
    /// lists of names that clients have not read have the same bound
    #[arg(long, default_value_t = 64 << 20)]
    notes: usize,
    /// How many connections there are at once; others wait to be accepted
    #[arg(long, default_value_t = CONNECTIONS, value_parser = connections)]
    connections: usize,
    /// Seconds that connections have to end after SIGTERM
    #[arg(long, default_value_t = 5)]
    grace: u64,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let serve = || {
        let server = Server::new(&args.listen, Duration::from_secs(args.grace))?;
        let computing = Computing::new(args.computing.into(), args.waiting.into());
        let (stop, routes) = (server.stop(), routes::all(computing, args.notes));
        let limits = Limits {
            patience: args.patience,
            body: args.body,
        };
        server
            .connections(args.connections)
            .run(move |stream| connection::serve(stream, routes.clone(), limits, &stop))
    };
    exit("web", pirn::run(serve))
}

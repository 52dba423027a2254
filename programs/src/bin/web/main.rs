//! A web server: hyper for HTTP/1.1 and HTTP/2, axum for the routes, fibers for the rest.
//!
//! * `connection`: one client; a fiber that waits for hyper's future, and tells it when the server is
//!   to end.
//! * `routes`: who answers what. A handler that waits or computes does so on a fiber of its own, in
//!   plain code.
//! * `notes`: what is kept.

mod connection;
mod notes;
mod routes;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use pirn_programs::{Server, exit};

/// Keeps notes, and answers over HTTP/1.1 and HTTP/2.
#[derive(Parser)]
#[command(name = "web")]
struct Args {
    /// Where to listen; port 0 stands for one that is free
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: String,
    /// Seconds that a client has for the head of a request
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    patience: u64,
    /// Seconds that connections have to end after SIGTERM
    #[arg(long, default_value_t = 5)]
    grace: u64,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let serve = || {
        let server = Server::new(&args.listen, Duration::from_secs(args.grace))?;
        let (stop, routes) = (server.stop(), routes::all());
        let patience = Duration::from_secs(args.patience);
        server
            .run(move |stream| connection::serve(stream, routes.clone(), patience, &stop))
    };
    exit("web", pirn::run(serve))
}

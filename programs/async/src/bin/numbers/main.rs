//! A gRPC service and its client: tonic for the protocol, fibers for the rest.
//!
//! * `service`: the methods, in plain code that may wait: each call is a fiber.
//! * `connection`: one client of the server: HTTP/2 by hyper, on the sockets of pirn.
//! * `client`: a connection to a server, which tonic's generated client uses.
//! * `proto/numbers.proto`: the description of the service.
//!
//! At SIGTERM the server accepts no more connections, and ends when all calls are answered.

mod client;
mod connection;
mod service;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use pirn_programs::{CONNECTIONS, Server, connections, exit};

/// The generated code.
#[allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    elided_lifetimes_in_paths,
    clippy::too_many_lines,
    reason = "generated"
)]
mod proto {
    tonic::include_proto!("pirn.numbers.v1");
}

/// Arithmetic over gRPC.
#[derive(Parser)]
#[command(name = "numbers")]
struct Args {
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand)]
enum Role {
    /// Serves until SIGTERM
    Serve {
        /// Where to listen; port 0 stands for one that is free
        #[arg(long, default_value = "127.0.0.1:50051")]
        listen: String,
        /// How many connections there are at once; others wait to be accepted
        #[arg(long, default_value_t = CONNECTIONS, value_parser = connections)]
        connections: usize,
        /// Seconds that calls have to end after SIGTERM
        #[arg(long, default_value_t = 5)]
        grace: u64,
    },
    /// Prints the factors of each number, a line for each
    Factor {
        /// The address of a server
        server: SocketAddr,
        /// Each from 1 to 10^12
        #[arg(required = true)]
        numbers: Vec<u64>,
    },
    /// Prints the primes of a range
    Primes {
        /// The address of a server
        server: SocketAddr,
        /// The beginning of the range
        from: u64,
        /// The end of the range, which is not in it
        to: u64,
    },
    /// Reads a number from each line of standard input, and prints the sum so far
    Totals {
        /// The address of a server
        server: SocketAddr,
    },
}

fn main() -> ExitCode {
    let args = Args::parse();
    exit("numbers", pirn::run(|| run(args.role)))
}

fn run(role: Role) -> anyhow::Result<()> {
    match role {
        Role::Serve {
            listen,
            connections,
            grace,
        } => {
            let server = Server::new(&listen, Duration::from_secs(grace))?;
            let stop = server.stop();
            server
                .connections(connections)
                .run(move |stream| connection::serve(stream, &stop))
        }
        Role::Factor { server, numbers } => client::factor(server, &numbers),
        Role::Primes { server, from, to } => client::primes(server, from, to),
        Role::Totals { server } => client::totals(server),
    }
}

//! TLS over sockets of fibers: an echo server, and a client that connects standard input and output
//! to a server.
//!
//! rustls does no input and output of its own: it works on any `Read` and `Write`, and so on
//! sockets that park their fiber.
//!
//! * `identity`: certificates and keys, made or read.
//! * `server`: a fiber for each connection, and one stream object for both directions, since an
//!   echo reads and writes in turns.
//! * `client`: two fibers, since both directions run at once; they share a `duplex`.

mod client;
mod duplex;
mod identity;
mod server;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use pirn_programs::{CONNECTIONS, Server, connections, exit, seconds};

/// Sends back what it is sent over TLS, or connects standard input and output to such a server.
#[derive(Parser)]
#[command(name = "tls")]
struct Args {
    /// Serves: where to listen; port 0 stands for one that is free
    #[arg(long, required_unless_present = "connect", conflicts_with = "connect")]
    listen: Option<String>,
    /// The server's certificates, in PEM; without, one for `localhost` is made
    #[arg(long, requires = "key")]
    cert: Option<PathBuf>,
    /// The key to the certificate, in PEM
    #[arg(long, requires = "cert")]
    key: Option<PathBuf>,
    /// Writes the certificate that was made to this file
    #[arg(long, conflicts_with = "cert")]
    save_cert: Option<PathBuf>,
    /// Seconds that the handshake may take, for a server and for a client
    #[arg(long, default_value = "10", value_parser = seconds)]
    handshake: Duration,
    /// How many connections there are at once; others wait to be accepted
    #[arg(long, default_value_t = CONNECTIONS, value_parser = connections)]
    connections: usize,
    /// Seconds that connections have to end after SIGTERM
    #[arg(long, default_value_t = 10)]
    grace: u64,
    /// Connects: the server's host and port
    #[arg(long, requires = "ca")]
    connect: Option<String>,
    /// Trusts these certificates, in PEM
    #[arg(long)]
    ca: Option<PathBuf>,
    /// The name that the server's certificate must have
    #[arg(long, default_value = "localhost")]
    name: String,
}

fn main() -> ExitCode {
    let args = Args::parse();
    exit("tls", pirn::run(|| run(args)))
}

fn run(args: Args) -> anyhow::Result<()> {
    if let (Some(address), Some(ca)) = (&args.connect, &args.ca) {
        return client::run(address, args.name, ca, args.handshake);
    }
    let identity = match (&args.cert, &args.key) {
        (Some(cert), Some(key)) => identity::read(cert, key)?,
        _ => identity::make(args.save_cert.as_deref())?,
    };
    let address = args.listen.unwrap_or_default();
    let server = Server::new(&address, Duration::from_secs(args.grace))?;
    server::run(
        server.connections(args.connections),
        identity,
        args.handshake,
    )
}

//! A server that sends back what it is sent.
//!
//! Each connection is a fiber with a buffer. A client that does not read delays only the fiber of
//! its connection, since the write waits. At shutdown the server accepts no more connections and
//! continues to serve the present ones, until they close or the grace period ends.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use pirn::net::TcpStream;
use pirn_programs::{CONNECTIONS, Server, connections, exit};

/// Sends back what it is sent.
#[derive(Parser)]
#[command(name = "echo")]
struct Args {
    /// Where to listen; port 0 stands for one that is free
    #[arg(long, default_value = "127.0.0.1:7007")]
    listen: String,
    /// How many connections there are at once; others wait to be accepted
    #[arg(long, default_value_t = CONNECTIONS, value_parser = connections)]
    connections: usize,
    /// Seconds that connections have to end after SIGTERM
    #[arg(long, default_value_t = 10)]
    grace: u64,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let serve = || {
        Server::new(&args.listen, Duration::from_secs(args.grace))?
            .connections(args.connections)
            .run(connection)
    };
    exit("echo", pirn::run(serve))
}

/// Serves one connection to its end.
fn connection(mut stream: TcpStream) -> anyhow::Result<()> {
    let mut buffer = [0; 16 << 10];
    loop {
        let n = stream.read(&mut buffer)?;
        if n == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..n])?;
    }
}

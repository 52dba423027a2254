//! A chat over WebSockets: each message goes to all clients in the room, which is the path of the
//! address, such as `/kitchen`.
//!
//! * `rooms`: the members of each room, and messages to all of them.
//! * `handshake`: accepts a client, or answers an error.
//! * `connection`: one client, from its handshake to its goodbye; two fibers.
//! * `inbound`: lets tungstenite read on one fiber while another one writes.

mod connection;
mod handshake;
mod inbound;
mod rooms;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use pirn_programs::{CONNECTIONS, Server, connections, exit, seconds};

use crate::connection::Settings;
use crate::handshake::Origins;
use crate::rooms::Rooms;

/// Passes on what is said in a room to all members of the room, over WebSockets.
#[derive(Parser)]
#[command(name = "chat")]
struct Args {
    /// Where to listen; port 0 stands for one that is free
    #[arg(long, default_value = "127.0.0.1:7080")]
    listen: String,
    /// Seconds from one time that a client is asked whether it is there to the next; it is taken
    /// for gone when it has been silent for twice as long
    #[arg(long, default_value = "30", value_parser = seconds)]
    ping: Duration,
    /// Seconds that the handshake may take
    #[arg(long, default_value = "10", value_parser = seconds)]
    handshake: Duration,
    /// An origin with pages that may speak here: its scheme, `://` and its host, or `*` for any;
    /// may be given many times [default: the host that is asked]
    #[arg(long)]
    origin: Vec<String>,
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
        let stop = server.stop();
        let rooms = Arc::new(Rooms::default());
        let settings = Settings {
            handshake: args.handshake,
            ping: args.ping,
            origins: Origins(args.origin),
        };
        server
            .connections(args.connections)
            .run(move |stream| connection::serve(stream, &rooms, &settings, &stop))
    };
    exit("chat", pirn::run(serve))
}

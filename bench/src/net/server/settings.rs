//! The options of a server.

use clap::Parser;

use crate::case::Net;
use crate::net::cost::{MIXED_EVERY, MIXED_MICROS};

/// Serves on 127.0.0.1, prints the port, and ends with its standard input.
#[derive(Clone, Debug, Parser)]
#[command(name = "serve")]
pub(in crate::net) struct Settings {
    /// Which server.
    pub(super) name: String,
    /// Threads that run fibers or tasks.
    #[arg(long, default_value_t = 1)]
    pub(super) workers: usize,
    /// Where to listen, 0 for wherever there is room.
    #[arg(long, default_value_t = 0)]
    pub(super) port: u16,
    /// Bytes of stack for each connection, 0 for the library's own choice.
    #[arg(long, default_value_t = 0)]
    pub(super) stack: usize,
    /// HTTP/1.1 instead of echo.
    #[arg(long)]
    pub(super) http: bool,
    /// Connections that read 1 KiB at once, and not 4 KiB.
    #[arg(long)]
    pub(super) small: bool,
    /// Microseconds of computing for each request of 64 bytes but the first of a connection.
    #[arg(long, default_value_t = 0)]
    pub(super) micros: u64,
    /// Only one connection in this many computes.
    #[arg(long, default_value_t = 1)]
    pub(super) every: u64,
}

impl Settings {
    /// Returns the arguments of a server with these options.
    pub(in crate::net) fn arguments(
        name: &str,
        workers: usize,
        stack: usize,
        net: Net,
    ) -> Vec<String> {
        let special = match net {
            Net::Http { .. } | Net::Open { http: true, .. } => "--http".to_owned(),
            Net::Idle => "--small".to_owned(),
            Net::Work { micros, .. } => format!("--micros {micros}"),
            Net::Mixed { .. } => format!("--micros {MIXED_MICROS} --every {MIXED_EVERY}"),
            Net::Echo { .. } | Net::Calls { .. } | Net::Open { .. } => String::new(),
        };
        let all = format!("serve {name} --workers {workers} --stack {stack} {special}");
        all.split_whitespace().map(str::to_owned).collect()
    }
}

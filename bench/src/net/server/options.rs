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
    /// Only one connection in so many computes.
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
        let mut arguments = vec!["serve".to_owned(), name.to_owned()];
        arguments.extend(["--workers".to_owned(), workers.to_string()]);
        if stack != 0 {
            arguments.extend(["--stack".to_owned(), stack.to_string()]);
        }
        match net {
            Net::Http { .. } => arguments.push("--http".to_owned()),
            Net::Idle => arguments.push("--small".to_owned()),
            Net::Open { http: true, .. } => arguments.push("--http".to_owned()),
            Net::Work { micros, .. } => {
                arguments.extend(["--micros".to_owned(), micros.to_string()]);
            }
            Net::Mixed { .. } => {
                arguments.extend(["--micros".to_owned(), MIXED_MICROS.to_string()]);
                arguments.extend(["--every".to_owned(), MIXED_EVERY.to_string()]);
            }
            Net::Echo { .. } | Net::Calls { .. } | Net::Open { .. } => {}
        }
        arguments
    }
}

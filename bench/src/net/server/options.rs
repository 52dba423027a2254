//! What a server is told.

use clap::Parser;

use crate::case::Net;

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
}

impl Settings {
    /// The arguments that say this to a server.
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
            Net::Echo { .. } | Net::Calls { .. } => {}
        }
        arguments
    }
}

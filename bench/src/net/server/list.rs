//! The list of servers.

use std::io;

use clap::Parser;

use crate::case::Net;
use crate::child::calibrate;
use crate::net::limits::raise_descriptors;
use crate::peers::{ASIDE, EIGHT, FREE, OURS};

use super::{Settings, epoll, hyper, may, pirn, start, threads, tokio, wrong};

/// One server; Go's is in its own program.
struct Server {
    name: &'static str,
    echo: fn(&Settings) -> io::Result<()>,
    http: Option<fn(&Settings) -> io::Result<()>>,
}

const SERVERS: &[Server] = &[
    Server {
        name: OURS,
        echo: pirn::echo,
        http: Some(pirn::http),
    },
    Server {
        name: FREE,
        echo: pirn::echo,
        http: Some(pirn::http),
    },
    Server {
        name: EIGHT,
        echo: pirn::echo,
        http: Some(pirn::http),
    },
    Server {
        name: "epoll",
        echo: epoll::echo,
        http: None,
    },
    Server {
        name: "threads",
        echo: threads::echo,
        http: None,
    },
    Server {
        name: "tokio",
        echo: tokio::echo_multi_thread,
        http: Some(hyper::http_multi_thread),
    },
    Server {
        name: ASIDE,
        echo: tokio::work_aside,
        http: None,
    },
    Server {
        name: "tokio-ct",
        echo: tokio::echo_current_thread,
        http: Some(hyper::http_current_thread),
    },
    Server {
        name: "may",
        echo: may::echo,
        http: None,
    },
    Server {
        name: "wrong",
        echo: wrong::echo,
        http: None,
    },
];

/// Returns true if the peer has a server for this case.
pub fn serves(peer: &str, net: Net) -> bool {
    if peer == "go" {
        return true;
    }
    let server = SERVERS.iter().find(|server| server.name == peer);
    server.is_some_and(|server| match net {
        // These have one thread, whatever the workers.
        Net::Work { .. } | Net::Open { .. } | Net::Mixed { .. }
            if ["epoll", "tokio-ct", "wrong"].contains(&peer) =>
        {
            false
        }
        Net::Work { .. } => true,
        // A thread for each of so many connections would try the machine, not the server.
        Net::Mixed { .. } => peer != "threads",
        Net::Open { http, .. } => peer != ASIDE && (!http || server.http.is_some()),
        _ if [FREE, EIGHT, ASIDE].contains(&peer) => false,
        Net::Http { .. } => server.http.is_some(),
        // A thread for each of so many connections would try the machine, not the server.
        Net::Idle => peer != "threads",
        Net::Echo { .. } | Net::Calls { .. } => true,
    })
}

/// Runs `compare child serve …`; returns only on an error.
///
/// # Errors
/// Invalid arguments, or the system's error; in words.
pub fn serve_child(arguments: &[String]) -> Result<(), String> {
    let words = std::iter::once("serve").chain(arguments.iter().map(String::as_str));
    let settings = Settings::try_parse_from(words).map_err(|error| error.to_string())?;
    let server = SERVERS
        .iter()
        .find(|server| server.name == settings.name)
        .ok_or_else(|| format!("there is no server `{}`", settings.name))?;
    let run = match settings.http {
        true => server.http.ok_or("it does not speak HTTP")?,
        false => server.echo,
    };
    if settings.micros > 0 {
        calibrate();
    }
    raise_descriptors().map_err(|error| error.to_string())?;
    start::end_with_input();
    run(&settings).map_err(|error| error.to_string())
}

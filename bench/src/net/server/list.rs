//! The list of servers.

use std::{io, iter};

use clap::Parser;

use crate::case::Net;
use crate::child::calibrate;
use crate::net::poll::raise_descriptors;
use crate::peers::{ASIDE, EIGHT, FREE, OURS, STD};

use super::start::end_with_input;
use super::{Settings, blocking, epoll, tokio};

/// A server of one protocol; returns only on an error.
type Serve = fn(&Settings) -> io::Result<()>;

/// Name, echo and HTTP; Go's is in its own program.
const SERVERS: &[(&str, Serve, Option<Serve>)] = &[
    (OURS, blocking::pirn_echo, Some(blocking::pirn_http)),
    (FREE, blocking::pirn_echo, Some(blocking::pirn_http)),
    (EIGHT, blocking::pirn_echo, Some(blocking::pirn_http)),
    (STD, blocking::std_echo, None),
    ("epoll", epoll::echo, None),
    ("threads", blocking::threads_echo, None),
    ("tokio", tokio::echo, Some(tokio::http)),
    (ASIDE, tokio::echo, None),
    ("tokio-ct", tokio::echo, Some(tokio::http)),
    ("may", blocking::may_echo, None),
    ("wrong", blocking::wrong_echo, None),
];

/// Returns true if the peer has a server for this case.
pub fn serves(peer: &str, net: Net) -> bool {
    match peer {
        "go" => return true,
        STD => return matches!(net, Net::Echo { .. } | Net::Calls { .. } | Net::Idle),
        _ => {}
    }
    let server = SERVERS.iter().find(|(name, ..)| *name == peer);
    server.is_some_and(|(_, _, http_server)| match net {
        // These have one thread, whatever the workers.
        Net::Work { .. } | Net::Open { .. } | Net::Mixed { .. }
            if ["epoll", "tokio-ct", "wrong"].contains(&peer) =>
        {
            false
        }
        Net::Work { .. } => true,
        // A thread for each of the many connections would try the machine, not the server.
        Net::Mixed { .. } => peer != "threads",
        Net::Open { http, .. } => peer != ASIDE && (!http || http_server.is_some()),
        _ if [FREE, EIGHT, ASIDE].contains(&peer) => false,
        Net::Http { .. } => http_server.is_some(),
        // As above.
        Net::Idle => peer != "threads",
        Net::Echo { .. } | Net::Calls { .. } => true,
    })
}

/// Runs `compare child serve …`; returns only on an error.
///
/// # Errors
/// Invalid arguments, or the system's error; in words.
pub fn serve_child(arguments: &[String]) -> Result<(), String> {
    let words = iter::once("serve").chain(arguments.iter().map(String::as_str));
    let settings = Settings::try_parse_from(words).map_err(|error| error.to_string())?;
    let (_, echo, http) = SERVERS
        .iter()
        .find(|(name, ..)| *name == settings.name)
        .ok_or_else(|| format!("there is no server `{}`", settings.name))?;
    let serve = match settings.http {
        true => http.as_ref().ok_or("it does not speak HTTP")?,
        false => echo,
    };
    if settings.micros > 0 {
        calibrate();
    }
    raise_descriptors().map_err(|error| error.to_string())?;
    end_with_input();
    serve(&settings).map_err(|error| error.to_string())
}

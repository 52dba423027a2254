//! The loop: requests of the page, and the next answer to record.

#![expect(
    clippy::disallowed_methods,
    reason = "a program of plain threads, which looks at others' fibers"
)]

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::recording::{Recorder, Recording};
use super::server::Server;
use super::source::{Live, Source};
use crate::wire::Failure;

/// The longest that the loop waits for a request before it looks at other things. Arbitrary.
const GLANCE: Duration = Duration::from_millis(50);

/// What to serve and to record.
#[derive(Debug)]
pub struct Web {
    /// The socket of the runtime; none with `replay`.
    pub socket: Option<PathBuf>,
    /// A recording in its place.
    pub replay: Option<PathBuf>,
    /// Where to serve the page.
    pub listen: Option<SocketAddr>,
    /// Where to record.
    pub record: Option<PathBuf>,
    /// Fibers to ask for, of each worker.
    pub most: u64,
    /// Time between two recorded answers.
    pub interval: Duration,
}

/// Serves and records until `is_over`. A recording without a page ends with the process that it is
/// about too.
///
/// # Errors
/// Why there is no first answer, no page, or no recording.
pub fn run(web: Web, is_over: impl Fn() -> bool) -> Result<(), Failure> {
    let source = match (web.replay, web.socket) {
        (Some(path), _) => Source::Recording(Recording::open(&path)?),
        (None, socket) => {
            let socket = socket.unwrap_or_default();
            let live = Live::new(socket, web.most, web.interval);
            live.snapshot()?;
            Source::Live(live)
        }
    };
    let source = Arc::new(source);
    let listen = |address| Server::listen(address, Arc::clone(&source));
    let server = web
        .listen
        .map(listen)
        .transpose()
        .map_err(Failure::System)?;
    let mut recorder = web.record.as_deref().map(Recorder::create).transpose()?;
    let mut out = io::stdout();
    if let Some(server) = &server {
        writeln!(out, "{}", server.url).map_err(Failure::System)?;
    }
    let mut due = Instant::now();
    let mut ended = None;
    while !is_over() {
        match &server {
            Some(server) => server.serve_for(GLANCE).map_err(Failure::System)?,
            None => thread::sleep(GLANCE),
        }
        let (Some(recorder), Source::Live(live)) = (&mut recorder, &*source) else {
            continue;
        };
        if ended.is_some() || Instant::now() < due {
            continue;
        }
        due = Instant::now() + web.interval;
        match live.snapshot() {
            Ok(answer) => recorder.append(&answer)?,
            Err(Failure::Silent(_)) => {}
            // The pages still show what was there.
            Err(failure) => ended = Some(failure),
        }
        if server.is_none() && ended.is_some() {
            break;
        }
    }
    if let Some(recorder) = recorder {
        let written = recorder.written;
        let end = ended.map_or(String::new(), |ended| format!("; then: {ended}"));
        writeln!(out, "{written} answers recorded{end}").map_err(Failure::System)?;
    }
    Ok(())
}

//! Starts the server, and records.

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
use super::server;
use super::source::{Live, Source};
use crate::wire::Failure;

/// Interval between two checks for signals and a due snapshot. Arbitrary.
const LOOK: Duration = Duration::from_millis(50);

/// The options `--web`, `--record` and `--replay`, and those that they use.
#[derive(Debug)]
pub struct WebOptions {
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

/// Serves the page and records; blocks until `is_over` returns true. Without a page, returns also
/// when the recorded runtime ends.
///
/// # Errors
/// Why there is no first answer, no page, or no recording.
pub fn run(web: WebOptions, is_over: impl Fn() -> bool) -> Result<(), Failure> {
    let source = match (&web.replay, &web.socket) {
        (Some(path), _) => Source::Recording(Recording::open(path)?),
        (None, socket) => {
            let socket = socket.clone().unwrap_or_default();
            let live = Live::new(socket, web.most, web.interval);
            live.snapshot()?;
            Source::Live(live)
        }
    };
    let source = Arc::new(source);
    let mut recorder = web.record.as_deref().map(Recorder::create).transpose()?;
    let mut out = io::stdout();
    if let Some(address) = web.listen {
        let url = server::serve(address, Arc::clone(&source)).map_err(Failure::System)?;
        writeln!(out, "{url}").map_err(Failure::System)?;
    }
    let end = match (&mut recorder, &*source) {
        (Some(recorder), Source::Live(live)) => record(live, recorder, &web, is_over),
        _ => {
            while !is_over() {
                thread::sleep(LOOK);
            }
            Ok(())
        }
    };
    if let Some(recorder) = recorder {
        writeln!(out, "{} snapshots recorded", recorder.written)
            .map_err(Failure::System)?;
    }
    end
}

/// Records until `is_over`; without a page, also until the runtime has ended. A failure that may
/// pass is reported, and recording goes on.
fn record(
    live: &Live,
    recorder: &mut Recorder,
    web: &WebOptions,
    is_over: impl Fn() -> bool,
) -> Result<(), Failure> {
    let mut due = Instant::now();
    let (mut last, mut reported) = (None, String::new());
    while !is_over() {
        if Instant::now() < due {
            thread::sleep(LOOK.min(web.interval));
            continue;
        }
        due = Instant::now() + web.interval;
        match live.snapshot() {
            Ok(taken) if last == Some(taken.at_ms) => {}
            Ok(taken) => {
                recorder.append(taken.at_ms, &taken.answer)?;
                last = Some(taken.at_ms);
                reported.clear();
            }
            Err(failure) => {
                let said = failure.to_string();
                if said != reported {
                    let _ = writeln!(io::stderr(), "pirn-top: not recorded: {said}");
                    reported = said;
                }
                if web.listen.is_none() && failure.is_end() {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

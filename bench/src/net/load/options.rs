//! The options of a load, from a parent or by hand.

use std::iter;
use std::time::Duration;

use clap::Parser;

use crate::child::sample;

use super::drive::{hold, load};

/// Puts a load on a server, checks every answer and prints one `SERIES NUMBER` a line: rate
/// (requests a second), p50, p99, p999 and max (microseconds), load (percent of the time in
/// which it computed itself), requests, and with --pid cpu (nanoseconds of the server's processor
/// time for a request).
#[derive(Clone, Debug, Parser)]
#[command(name = "load")]
pub(super) struct Load {
    /// Where the server listens, on 127.0.0.1.
    #[arg(long)]
    pub(super) port: u16,
    /// The server's process, for its processor time and memory.
    #[arg(long)]
    pub(super) pid: Option<u32>,
    /// How many connections.
    #[arg(long, default_value_t = 64)]
    pub(super) connections: usize,
    /// Requests in flight on each connection.
    #[arg(long, default_value_t = 1)]
    pub(super) depth: u64,
    /// Bytes of a request.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(super) size: u32,
    /// HTTP/1.1 instead of echo.
    #[arg(long)]
    pub(super) http: bool,
    /// Milliseconds that count.
    #[arg(long, default_value_t = 2000)]
    pub(super) time: u64,
    /// Milliseconds before them that do not.
    #[arg(long, default_value_t = 500)]
    pub(super) warmup: u64,
    /// So many requests instead of a time; all of them count.
    #[arg(long, conflicts_with_all = ["time", "warmup"])]
    pub(super) requests: Option<u64>,
    /// So many requests on each connection instead of a time.
    #[arg(long, conflicts_with_all = ["requests", "time", "warmup"])]
    pub(super) each: Option<u64>,
    /// Requests in a second, due at fixed times, whether the server answers or not, on one
    /// connection after the other; their number is that of --requests. Latencies are measured from
    /// the time at which a request is due.
    #[arg(long, requires = "requests", conflicts_with = "depth")]
    pub(super) rate: Option<f64>,
    /// One connection in this many has requests that cost the server something: the others'
    /// times are printed once more, as cheap-p50 and so on.
    #[arg(long, default_value_t = 0)]
    pub(super) every: u64,
    /// One request on each connection, as many of them as the limit on descriptors allows;
    /// prints how many there are and what each takes of the server's memory.
    #[arg(long, requires = "pid", conflicts_with_all = ["requests", "depth", "time", "warmup"])]
    pub(super) idle: bool,
    /// Time without bytes after which the server counts as silent.
    #[arg(skip = Duration::from_secs(10))]
    pub(super) patience: Duration,
}

/// Runs `compare child load …`.
///
/// # Errors
/// The error of the arguments or of the server; in words.
pub fn load_child(arguments: &[String]) -> Result<(), String> {
    let words = iter::once("load").chain(arguments.iter().map(String::as_str));
    let options = Load::try_parse_from(words).map_err(|error| error.to_string())?;
    let samples = match options.idle {
        true => hold(&options)?,
        false => load(&options)?,
    };
    for (series, value) in samples {
        sample(&series, value);
    }
    Ok(())
}

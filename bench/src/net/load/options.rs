//! The options of a load, from a parent or by hand.

use std::iter;
use std::time::Duration;

use clap::Parser;

use super::drive::load;
use super::hold::hold;

/// A load on one server.
#[derive(Clone, Debug)]
pub struct Load {
    /// Where the server listens, on 127.0.0.1.
    pub port: u16,
    /// The server's process, for its processor time and its memory.
    pub server: Option<u32>,
    /// How many connections.
    pub connections: usize,
    /// Requests in flight on each.
    pub depth: usize,
    /// Bytes of a request of echo, at most 65,536.
    pub size: usize,
    /// HTTP instead of echo.
    pub http: bool,
    /// Its end.
    pub until: Until,
    /// One connection in this many has costly requests, 0 for none.
    pub every: u64,
    /// Time without bytes after which the server counts as silent.
    pub patience: Duration,
}

/// The end of a load.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// After a warm-up that does not count, and a time that does.
    Time {
        /// The warm-up, which does not count.
        warmup: Duration,
        /// The window, in which all answers count.
        window: Duration,
    },
    /// After this many requests, all of which count.
    Requests(u64),
    /// After this many requests on each connection, all of which count.
    Each(u64),
    /// After this many requests, which are due at fixed times, whether the server answers or not,
    /// on one connection after the other. Their latency is measured from the time at which they are
    /// due.
    Paced {
        /// Number of requests.
        requests: u64,
        /// Requests in a second.
        rate: f64,
    },
}

impl Default for Load {
    fn default() -> Load {
        Load {
            port: 0,
            server: None,
            connections: 1,
            depth: 1,
            size: 64,
            http: false,
            until: Until::Requests(1),
            every: 0,
            patience: Duration::from_secs(10),
        }
    }
}

/// Puts a load on a server, checks every answer and prints one `SERIES NUMBER` a line: rate
/// (requests a second), p50, p99, p999 and max (microseconds), load (percent of the time in
/// which it computed itself), requests, and with --pid cpu (nanoseconds of the server's processor
/// time for a request).
#[derive(Debug, Parser)]
#[command(name = "load")]
struct Arguments {
    /// Where the server listens, on 127.0.0.1.
    #[arg(long)]
    port: u16,
    /// The server's process, for its processor time and memory.
    #[arg(long)]
    pid: Option<u32>,
    /// How many connections.
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Requests in flight on each connection.
    #[arg(long, default_value_t = 1)]
    depth: usize,
    /// Bytes of a request.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    size: u32,
    /// HTTP/1.1 instead of echo.
    #[arg(long)]
    http: bool,
    /// Milliseconds that count.
    #[arg(long, default_value_t = 2000)]
    time: u64,
    /// Milliseconds before them that do not.
    #[arg(long, default_value_t = 500)]
    warmup: u64,
    /// So many requests instead of a time.
    #[arg(long, conflicts_with_all = ["time", "warmup"])]
    requests: Option<u64>,
    /// So many requests on each connection instead of a time.
    #[arg(long, conflicts_with_all = ["requests", "time", "warmup"])]
    each: Option<u64>,
    /// Requests in a second, asked at fixed times; their number is that of --requests.
    #[arg(long, requires = "requests", conflicts_with = "depth")]
    rate: Option<f64>,
    /// One connection in so many has requests that cost the server something: the others'
    /// times are printed once more, as cheap-p50 and so on.
    #[arg(long, default_value_t = 0)]
    every: u64,
    /// One request on each connection, as many of them as the limit on descriptors allows;
    /// prints how many there are and what each takes of the server's memory.
    #[arg(long, requires = "pid", conflicts_with_all = ["requests", "depth", "time", "warmup"])]
    idle: bool,
}

/// Runs `compare child load …`.
///
/// # Errors
/// The error of the arguments or of the server; in words.
pub fn load_child(arguments: &[String]) -> Result<(), String> {
    let words = iter::once("load").chain(arguments.iter().map(String::as_str));
    let given = Arguments::try_parse_from(words).map_err(|error| error.to_string())?;
    let idle = given.idle;
    let load_options = Load::from(given);
    let samples = if idle {
        hold(&load_options).map_err(|failure| failure.to_string())?
    } else {
        load(&load_options)
            .map_err(|failure| failure.to_string())?
            .samples()
    };
    for (series, value) in samples {
        println!("{series} {value}");
    }
    Ok(())
}

impl From<Arguments> for Load {
    fn from(given: Arguments) -> Load {
        Load {
            port: given.port,
            server: given.pid,
            connections: given.connections,
            depth: given.depth,
            size: given.size as usize,
            http: given.http,
            every: given.every,
            until: match (given.requests, given.each, given.rate) {
                (Some(requests), _, Some(rate)) => Until::Paced { requests, rate },
                (Some(requests), _, None) => Until::Requests(requests),
                (None, Some(each), _) => Until::Each(each),
                (None, None, _) => Until::Time {
                    warmup: Duration::from_millis(given.warmup),
                    window: Duration::from_millis(given.time),
                },
            },
            ..Load::default()
        }
    }
}

//! The loop: one thread, one epoll set, one read for each event, one reading of the clock for each
//! read.
//!
//! Phases: connect and greet one by one; warm up; the window, between two readings of the server's
//! processor clock; drain, with no new requests, in which all answers are still checked; close. By
//! number of requests there is no warm-up, and the window ends with the last answer.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use std::{io, process, thread};

use crate::child::{memory_of, processor_time, processor_time_of};
use crate::net::cost::is_costly;
use crate::net::poll::{Poll, READ, WRITE, raise_descriptors};

use super::connection::{Connection, Said, at, silent};
use super::dialect::{Dialect, LARGEST};
use super::options::Load;
use super::tally::{Tally, Used};

/// Connections from one local address at most: fewer than it has ports.
const FROM_ONE_ADDRESS: usize = 20_000;

/// Maximum events of one wait; arbitrary.
const EVENTS: usize = 1024;

/// Requests that are sent one after the other before answers are read, if they have fixed times;
/// arbitrary.
const BATCH: usize = 64;

/// Descriptors that a server or this process needs besides those of the connections, with
/// plenty to spare.
const SPARE: usize = 200;

/// The kernel counts resident pages by thread and adds them up later, and servers release the
/// memory for accepting.
const REST: Duration = Duration::from_millis(200);

/// Names and numbers.
type Samples = Vec<(String, f64)>;

/// Runs the load to its end.
///
/// # Errors
/// The first error.
pub(super) fn load(load: &Load) -> Result<Samples, String> {
    raise_descriptors().map_err(at("limit on descriptors"))?;
    let mut drive = Drive::new(load)?;
    let samples = if load.requests.or(load.each).is_none() {
        drive.left = u64::MAX;
        drive.begin(load.depth)?;
        drive.run(Some(Duration::from_millis(load.warmup)))?;
        drive.tally.begin();
        let start = drive.start(load)?;
        drive.run(Some(Duration::from_millis(load.time)))?;
        let samples = drive.samples(load, start)?;
        drive.left = 0;
        drive.run(None)?;
        samples
    } else {
        let start = drive.start(load)?;
        if let (Some(requests), Some(rate)) = (load.requests, load.rate) {
            drive.pace(requests, rate)?;
        } else {
            let of_all = load.each.map(|each| each * load.connections as u64);
            drive.each = load.each.unwrap_or(u64::MAX);
            drive.left = load.requests.or(of_all).unwrap_or(0);
            drive.begin(load.depth)?;
        }
        drive.run(None)?;
        drive.samples(load, start)?
    };
    drive.close()?;
    Ok(samples)
}

/// Opens idle connections, up to the limit on descriptors, sends one request on each, and
/// measures the growth of the server's memory.
///
/// # Errors
/// The first error.
pub(super) fn hold(load: &Load) -> Result<Samples, String> {
    let limit = raise_descriptors().map_err(at("limit on descriptors"))?;
    let count = load.connections.min(limit.saturating_sub(SPARE));
    let server = load.pid.unwrap_or_else(process::id);
    let memory = || {
        thread::sleep(REST);
        memory_of(server).map_err(at("memory of the server"))
    };
    // One-time allocations of the first connection do not count for each.
    drop(connect(load, 1)?);
    let before = memory()?;
    let connections = connect(load, count)?;
    let grown = memory()?.saturating_sub(before);
    drop(connections);
    Ok(vec![
        ("bytes".to_owned(), grown as f64 / count as f64),
        ("connections".to_owned(), count as f64),
    ])
}

/// Opens `count` connections, each greeted before the next.
fn connect(load: &Load, count: usize) -> Result<Vec<Connection>, String> {
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, load.port));
    let mut buffer = vec![0; LARGEST];
    let open = |number| {
        let dialect = match load.http {
            true => Dialect::http(),
            false => Dialect::echo(number, load.size as usize),
        };
        let last = 1 + number / FROM_ONE_ADDRESS;
        let local = SocketAddr::from((Ipv4Addr::new(127, 0, 0, last as u8), 0));
        let mut connection = Connection::open(number, local, server, dialect)?;
        connection.greet(load.patience, &mut buffer)?;
        Ok(connection)
    };
    (0..count).map(open).collect()
}

/// A running load.
#[derive(Debug)]
struct Drive {
    connections: Vec<Connection>,
    poll: Poll,
    tally: Tally,
    buffer: Vec<u8>,
    /// Remaining requests.
    left: u64,
    /// Maximum requests of one connection.
    each: u64,
    /// One connection in this many is costly, 0 for none.
    every: u64,
    /// Requests without an answer, on all connections.
    awaited: u64,
    patience: Duration,
    started: Instant,
}

impl Drive {
    fn new(load: &Load) -> Result<Drive, String> {
        let connections = connect(load, load.connections)?;
        let poll = Poll::new(EVENTS).map_err(at("epoll"))?;
        for (number, connection) in connections.iter().enumerate() {
            poll.add(&connection.stream, number).map_err(at("epoll"))?;
        }
        Ok(Drive {
            connections,
            poll,
            tally: Tally::new(load),
            buffer: vec![0; LARGEST],
            left: 0,
            each: u64::MAX,
            every: load.every,
            awaited: 0,
            patience: load.patience,
            started: Instant::now(),
        })
    }

    /// Nanoseconds since the start.
    fn now(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// Puts `depth` requests in flight on each connection, while any are left. All are due now: if
    /// the server delays this loop, that counts as latency.
    fn begin(&mut self, depth: u64) -> Result<(), String> {
        let due = self.now();
        for number in 0..self.connections.len() {
            self.ask(number, depth, due)?;
        }
        Ok(())
    }

    /// Runs for a time, or until no answer is awaited.
    fn run(&mut self, time: Option<Duration>) -> Result<(), String> {
        let end = time.map(|time| self.now() + time.as_nanos() as u64);
        let mut ready = Vec::with_capacity(EVENTS);
        let mut now = self.now();
        while self.awaited > 0 && end.is_none_or(|end| now < end) {
            self.poll
                .wait(Some(self.patience), &mut ready)
                .map_err(at("epoll"))?;
            if ready.is_empty() && self.now() - now >= self.patience.as_nanos() as u64 {
                return Err(silent(self.awaited));
            }
            now = self.now();
            for number in &ready {
                now = self.serve(*number)?;
            }
        }
        Ok(())
    }

    /// Sends requests at fixed times, on one connection after the other.
    fn pace(&mut self, requests: u64, rate: f64) -> Result<(), String> {
        shorten_sleeps().map_err(at("timer slack"))?;
        let mut ready = Vec::with_capacity(EVENTS);
        let start = self.now();
        let due = |request: u64| start + (request as f64 * 1e9 / rate) as u64;
        let mut asked = 0;
        while asked < requests {
            let now = self.now();
            for _ in 0..BATCH {
                if asked == requests || due(asked) > now {
                    break;
                }
                let number = (asked % self.connections.len() as u64) as usize;
                self.tally.lagged(now - due(asked));
                self.put(number, 1, due(asked))?;
                asked += 1;
            }
            let wait = due(asked).saturating_sub(self.now());
            self.poll
                .wait_precisely(Duration::from_nanos(wait), &mut ready)
                .map_err(at("epoll"))?;
            for number in &ready {
                self.serve(*number)?;
            }
        }
        Ok(())
    }

    /// Handles the readiness of a connection; returns the time after it.
    fn serve(&mut self, number: usize) -> Result<u64, String> {
        let connection = &mut self.connections[number];
        if connection.is_behind() && connection.flush()? == Said::All {
            self.poll
                .change(&connection.stream, number, READ)
                .map_err(at("epoll"))?;
        }
        let (tally, started) = (&mut self.tally, self.started);
        let costly = self.every > 0 && is_costly(number as u64, self.every);
        let mut now = None;
        let answers = connection.hear(&mut self.buffer, |asked| {
            let now = *now.get_or_insert_with(|| started.elapsed().as_nanos() as u64);
            tally.answered(now - asked, costly);
        })?;
        let now = now.unwrap_or_else(|| self.now());
        self.awaited -= answers;
        self.ask(number, answers, now)?;
        Ok(now)
    }

    /// Makes at most `count` more requests due on a connection.
    fn ask(&mut self, number: usize, count: u64, now: u64) -> Result<(), String> {
        let of_its_own = self.each - self.connections[number].asked().min(self.each);
        let count = count.min(self.left).min(of_its_own);
        if count == 0 {
            return Ok(());
        }
        self.left -= count;
        self.put(number, count, now)
    }

    /// Makes `count` more requests due on a connection at `now`.
    fn put(&mut self, number: usize, count: u64, now: u64) -> Result<(), String> {
        self.awaited += count;
        let connection = &mut self.connections[number];
        let was_behind = connection.is_behind();
        if connection.ask(count, now)? == Said::Part && !was_behind {
            self.poll
                .change(&connection.stream, number, READ | WRITE)
                .map_err(at("epoll"))?;
        }
        Ok(())
    }

    /// Returns the time and the processor times at the start of the window.
    fn start(&self, load: &Load) -> Result<(u64, Used), String> {
        let server = load.pid.map(processor_time_of).transpose();
        let server = server.map_err(at("processor clock"))?;
        let own = processor_time();
        Ok((self.now(), Used { server, own }))
    }

    /// Returns the results since `start`.
    fn samples(&self, load: &Load, start: (u64, Used)) -> Result<Samples, String> {
        let (from, before) = start;
        let (to, used) = self.start(load)?;
        let window = Duration::from_nanos(to - from);
        Ok(self.tally.samples(window, used.since(before)))
    }

    fn close(self) -> Result<(), String> {
        let mut buffer = self.buffer;
        self.connections
            .into_iter()
            .try_for_each(|connection| connection.close(self.patience, &mut buffer))
    }
}

/// Disables the timer slack of this thread: by default its waits may take 50 µs longer.
fn shorten_sleeps() -> io::Result<()> {
    // SAFETY: concerns this thread's timers alone and touches no memory.
    match unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

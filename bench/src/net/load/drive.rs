//! The loop: one thread, one epoll set, one read for each event, one reading of the clock for each
//! read.
//!
//! Phases: connect and greet one by one; warm up; the window, between two readings of the server's
//! processor clock; drain, with no new requests, in which all answers are still checked; close. By
//! number of requests there is no warm-up, and the window ends with the last answer.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use crate::net::cost::is_costly;
use crate::net::limits::raise_descriptors;
use crate::net::poll::{Interest, Poll};

use super::clock::{Clocks, Used};
use super::connection::{Connection, Said};
use super::dialect::{Dialect, LARGEST};
use super::tally::Tally;
use super::{Failure, Load, Report, Until};

/// Connections from one local address at most: fewer than it has ports.
const FROM_ONE_ADDRESS: usize = 20_000;

/// Maximum events of one wait; arbitrary.
const EVENTS: usize = 1024;

/// Requests that are sent one after the other before answers are read, if they have fixed times;
/// arbitrary.
const BATCH: usize = 64;

/// Runs the load to its end.
///
/// # Errors
/// The first error.
pub fn load(load: &Load) -> Result<Report, Failure> {
    raise_descriptors().map_err(Failure::at("limit on descriptors"))?;
    let mut drive = Drive::new(load)?;
    let clocks = Clocks::of(load.server)?;
    let report = match load.until {
        Until::Time { warmup, window } => {
            drive.left = u64::MAX;
            drive.begin(load.depth)?;
            drive.run(Some(warmup))?;
            drive.tally.begin();
            let (used, from) = (clocks.now()?, drive.now());
            drive.run(Some(window))?;
            let used = clocks.now()?.since(used);
            let report = drive.report(from, used);
            drive.left = 0;
            drive.run(None)?;
            report
        }
        until => {
            let (used, from) = (clocks.now()?, drive.now());
            match until {
                Until::Paced { requests, rate } => drive.pace(requests, rate)?,
                Until::Each(each) => {
                    drive.left = each * load.connections as u64;
                    drive.each = each;
                    drive.begin(load.depth)?;
                }
                Until::Requests(requests) => {
                    drive.left = requests;
                    drive.begin(load.depth)?;
                }
                Until::Time { .. } => unreachable!("that has a window of its own"),
            }
            drive.run(None)?;
            let used = clocks.now()?.since(used);
            drive.report(from, used)
        }
    };
    drive.close()?;
    Ok(report)
}

/// Opens `count` connections, each greeted before the next.
pub(super) fn connect(load: &Load, count: usize) -> Result<Vec<Connection>, Failure> {
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, load.port));
    let mut buffer = vec![0; LARGEST];
    let open = |number| {
        let dialect = match load.http {
            true => Dialect::http(),
            false => Dialect::echo(number, load.size),
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
    fn new(load: &Load) -> Result<Drive, Failure> {
        let connections = connect(load, load.connections)?;
        let poll = Poll::new(EVENTS).map_err(Failure::at("epoll"))?;
        for (number, connection) in connections.iter().enumerate() {
            poll.add(&connection.stream, number)
                .map_err(Failure::at("epoll"))?;
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
    fn begin(&mut self, depth: usize) -> Result<(), Failure> {
        let due = self.now();
        for number in 0..self.connections.len() {
            self.ask(number, depth as u64, due)?;
        }
        Ok(())
    }

    /// Runs for a time, or until no answer is awaited.
    fn run(&mut self, time: Option<Duration>) -> Result<(), Failure> {
        let end = time.map(|time| self.now() + time.as_nanos() as u64);
        let mut ready = Vec::with_capacity(EVENTS);
        let mut now = self.now();
        while self.awaited > 0 && end.is_none_or(|end| now < end) {
            self.poll
                .wait(Some(self.patience), &mut ready)
                .map_err(Failure::at("epoll"))?;
            if ready.is_empty() && self.now() - now >= self.patience.as_nanos() as u64 {
                return Err(Failure::Silent {
                    awaited: self.awaited,
                });
            }
            now = self.now();
            for number in &ready {
                now = self.serve(*number)?;
            }
        }
        Ok(())
    }

    /// Sends requests at fixed times, on one connection after the other.
    fn pace(&mut self, requests: u64, rate: f64) -> Result<(), Failure> {
        shorten_sleeps().map_err(Failure::at("timer slack"))?;
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
                .map_err(Failure::at("epoll"))?;
            for number in &ready {
                self.serve(*number)?;
            }
        }
        Ok(())
    }

    /// Handles the readiness of a connection; returns the time after it.
    fn serve(&mut self, number: usize) -> Result<u64, Failure> {
        let connection = &mut self.connections[number];
        if connection.is_behind() && connection.flush()? == Said::All {
            self.poll
                .change(&connection.stream, number, Interest::Read)
                .map_err(Failure::at("epoll"))?;
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
    fn ask(&mut self, number: usize, count: u64, now: u64) -> Result<(), Failure> {
        let of_its_own = self.each - self.connections[number].asked().min(self.each);
        let count = count.min(self.left).min(of_its_own);
        if count == 0 {
            return Ok(());
        }
        self.left -= count;
        self.put(number, count, now)
    }

    /// Makes `count` more requests due on a connection at `now`.
    fn put(&mut self, number: usize, count: u64, now: u64) -> Result<(), Failure> {
        self.awaited += count;
        let connection = &mut self.connections[number];
        let was_behind = connection.is_behind();
        if connection.ask(count, now)? == Said::Part && !was_behind {
            self.poll
                .change(&connection.stream, number, Interest::ReadAndWrite)
                .map_err(Failure::at("epoll"))?;
        }
        Ok(())
    }

    /// Returns the results since `from`.
    fn report(&self, from: u64, used: Used) -> Report {
        let window = Duration::from_nanos(self.now() - from);
        self.tally.report(window, used)
    }

    fn close(self) -> Result<(), Failure> {
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

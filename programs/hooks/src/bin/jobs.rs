//! A worker of a job queue that many processes share: a stream of Redis (6.2 or later).
//!
//! `jobs REDIS STREAM CLAIM COMMAND…` runs the command for each entry of the stream, with the
//! entry's field `line` as its last argument. Any number of these processes, on any number of
//! machines, share the entries: each goes to one of them.
//!
//! * An entry is acknowledged and deleted when its command has succeeded. If that does not happen
//!   within CLAIM seconds, because its worker has died or its command has failed, a worker claims
//!   the entry. So a command runs at least once for each entry, and sometimes again.
//! * While a command runs, its worker renews the claim, so that no other worker takes the entry.
//! * An entry without a line goes to the stream `STREAM:failed`, and so does one of which the command
//!   fails at delivery [`TRIES`] or later. It has all its fields there, and its former number as `id`.
//! * After SIGTERM or Ctrl-C a worker takes no more entries after at most half a second, and ends
//!   when its commands have ended.
//! * If Redis fails or does not answer, the worker tries again every second.
//!
//! Each of the [`AT_ONCE`] fibers is blocking code: a client for Redis and `std::process`.
#![expect(clippy::disallowed_methods, reason = "processes of `std`, unchanged")]

use std::env;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{self, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pirn::Runtime;
use pirn::cancel::Token;
use pirn::signal::{Signal, cancel_on};
use pirn::sync::Event;
use pirn_hooks as _;
use redis::streams::{
    StreamAutoClaimReply, StreamId, StreamPendingCountReply, StreamReadReply,
};
use redis::{Client, Connection, RedisResult, Value, cmd};

/// How many commands a process runs at once. Arbitrary.
const AT_ONCE: usize = 8;

/// The consumer group of all workers.
const GROUP: &str = "jobs";

/// An entry is given up if its command fails at this delivery or a later one. Arbitrary.
const TRIES: usize = 5;

/// How long a worker waits for an entry before it looks for a shutdown, and for entries to claim.
/// Arbitrary.
const BLOCK: Duration = Duration::from_millis(500);

/// How long a worker waits after an error of Redis. Arbitrary.
const RETRY: Duration = Duration::from_secs(1);

/// How long Redis may take to answer. Arbitrary; longer than [`BLOCK`].
const LIMIT: Duration = Duration::from_secs(5);

/// The least time after which an entry is claimed: Redis counts milliseconds.
const LEAST: Duration = Duration::from_millis(1);

/// The greatest one: a day. Arbitrary.
const MOST: Duration = Duration::from_secs(86_400);

/// One process, as a consumer of the group.
struct Worker {
    client: Client,
    stream: String,
    /// Its name in the group. No other process may have it: entries are claimed by name.
    name: String,
    claim: Duration,
    command: Vec<String>,
}

fn main() -> ExitCode {
    let args = env::args_os().skip(1).map(OsString::into_string);
    let Ok(args) = args.collect::<Result<Vec<_>, _>>() else {
        return usage();
    };
    let [redis, stream, claim, command @ ..] = &args[..] else {
        return usage();
    };
    let claim = claim.parse().ok().map(Duration::try_from_secs_f64);
    let Some(Ok(claim)) = claim else {
        return usage();
    };
    if command.is_empty() || !(LEAST..=MOST).contains(&claim) {
        return usage();
    }
    if !is_there(&command[0]) {
        eprintln!("jobs: no command '{}' in PATH", command[0]);
        return ExitCode::FAILURE;
    }
    match start(redis, stream, claim, command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("jobs: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: jobs REDIS STREAM CLAIM COMMAND…; CLAIM is in seconds, from 0.001 to 86400"
    );
    ExitCode::from(2)
}

/// Returns true if there is a file that the command may be. A wrong name would make all jobs fail.
fn is_there(command: &str) -> bool {
    if command.contains('/') {
        return Path::new(command).exists();
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(command).exists())
}

fn start(
    redis: &str,
    stream: &str,
    claim: Duration,
    command: &[String],
) -> Result<(), Box<dyn Error>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let worker = &Worker {
        client: Client::open(format!("redis://{redis}/"))?,
        stream: stream.to_owned(),
        name: format!("{}-{}", process::id(), now.as_nanos()),
        claim,
        command: command.to_owned(),
    };
    let stop = &Token::new();
    let _signals = cancel_on(&[Signal::TERM, Signal::INT], stop)?;
    Runtime::builder().hooks(true).build()?.run(|| {
        pirn::scope(|s| {
            for _ in 0..AT_ONCE {
                s.spawn(|| worker.serve(stop));
            }
        });
    });
    // The consumer is not deleted: Redis would delete its pending entries too, and other workers
    // could not claim them. So the names of consumers accumulate.
    Ok(())
}

impl Worker {
    /// Runs jobs until `stop` is cancelled.
    fn serve(&self, stop: &Token) {
        let mut connection = None;
        while !stop.is_cancelled() {
            if let Err(error) = self.serve_one(&mut connection) {
                // A late reply would answer the next request.
                connection = None;
                let (address, stream) = (self.client.get_connection_info(), &self.stream);
                let address = address.addr();
                say(format_args!(
                    "jobs: {stream} at {address}: {error}; again in {RETRY:?}"
                ));
                // An interruption is the shutdown.
                let _ = stop.enter(|| pirn::sleep(RETRY));
            }
        }
    }

    /// Runs one job, if one comes.
    fn serve_one(&self, connection: &mut Option<Connection>) -> RedisResult<()> {
        let redis = match connection {
            Some(redis) => redis,
            None => connection.insert(self.connect()?),
        };
        let job = match self.claim(redis)? {
            None => self.read(redis)?,
            claimed => claimed,
        };
        job.map_or(Ok(()), |job| self.run(redis, &job))
    }

    /// Connects, and creates the stream and the group if they do not exist.
    fn connect(&self) -> RedisResult<Connection> {
        let mut redis = self.open()?;
        let created = cmd("XGROUP")
            .arg(&["CREATE", &self.stream, GROUP, "0", "MKSTREAM"])
            .exec(&mut redis);
        match created {
            Err(error) if error.code() != Some("BUSYGROUP") => Err(error),
            _ => Ok(redis),
        }
    }

    fn open(&self) -> RedisResult<Connection> {
        let redis = self.client.get_connection_with_timeout(LIMIT)?;
        redis.set_read_timeout(Some(LIMIT))?;
        redis.set_write_timeout(Some(LIMIT))?;
        Ok(redis)
    }

    /// Takes over an entry that has not been acknowledged for too long.
    fn claim(&self, redis: &mut Connection) -> RedisResult<Option<StreamId>> {
        let mut from = "0-0".to_owned();
        loop {
            let reply: StreamAutoClaimReply = cmd("XAUTOCLAIM")
                .arg(&[&self.stream, GROUP, &self.name])
                .arg(self.claim.as_millis() as u64)
                .arg(&[&from, "COUNT", "1"])
                .query(redis)?;
            let job = reply.claimed.into_iter().next();
            // One call looks at a few pending entries only, and returns the place after them.
            if job.is_some() || reply.next_stream_id == "0-0" {
                return Ok(job);
            }
            from = reply.next_stream_id;
        }
    }

    /// Waits for an entry that no worker has had.
    fn read(&self, redis: &mut Connection) -> RedisResult<Option<StreamId>> {
        let reply: Option<StreamReadReply> = cmd("XREADGROUP")
            .arg(&["GROUP", GROUP, &self.name, "COUNT", "1", "BLOCK"])
            .arg(BLOCK.as_millis() as u64)
            .arg(&["STREAMS", &self.stream, ">"])
            .query(redis)?;
        let streams = reply.into_iter().flat_map(|reply| reply.keys);
        Ok(streams.flat_map(|stream| stream.ids).next())
    }

    /// Runs the command for an entry, and acknowledges the entry if it succeeds.
    fn run(&self, redis: &mut Connection, job: &StreamId) -> RedisResult<()> {
        let Some(line) = job.get::<Vec<u8>>("line") else {
            say(format_args!("job {} has no line", job.id));
            return self.give_up(redis, job);
        };
        let line = OsString::from_vec(line);
        let over = Event::manual();
        let ended = pirn::scope(|s| {
            s.spawn(|| self.renew(&job.id, &over));
            let ended = self.command(&line);
            over.set();
            ended
        });
        let error = match ended {
            Ok(status) if status.success() => {
                // The connection may have been closed while the command ran.
                let done = self.acknowledge(redis, &job.id);
                return done.or_else(|_| self.acknowledge(&mut self.open()?, &job.id));
            }
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let tries = self.tries(redis, &job.id)?;
        say(format_args!(
            "job {} failed, delivery {tries} of {TRIES}: {error}",
            job.id
        ));
        match tries < TRIES {
            true => Ok(()),
            false => self.give_up(redis, job),
        }
    }

    /// Runs the command to its end, in a process group of its own: Ctrl-C is for the worker.
    fn command(&self, line: &OsStr) -> io::Result<ExitStatus> {
        Command::new(&self.command[0])
            .args(&self.command[1..])
            .arg(line)
            .stdin(Stdio::null())
            .process_group(0)
            .status()
    }

    /// Renews the claim on an entry until its command is over.
    fn renew(&self, id: &str, over: &Event) {
        let mut connection = None;
        // An interruption does not come: the scope cancels nothing.
        while over.wait_timeout(self.claim / 3) == Ok(false) {
            // After a failure another worker may take the entry too: it runs at least once.
            connection = connection.or_else(|| self.open().ok());
            connection = connection.and_then(|mut redis| {
                let renewed = cmd("XCLAIM")
                    .arg(&[&self.stream, GROUP, &self.name, "0", id, "JUSTID"])
                    .exec(&mut redis);
                renewed.ok().map(|()| redis)
            });
        }
    }

    /// Acknowledges and deletes an entry, in one step.
    fn acknowledge(&self, redis: &mut Connection, id: &str) -> RedisResult<()> {
        redis::pipe()
            .atomic()
            .cmd("XACK")
            .arg(&[&self.stream, GROUP, id])
            .cmd("XDEL")
            .arg(&[&self.stream, id])
            .exec(redis)
    }

    /// Returns how often an entry has been delivered.
    fn tries(&self, redis: &mut Connection, id: &str) -> RedisResult<usize> {
        let pending: StreamPendingCountReply = cmd("XPENDING")
            .arg(&[&self.stream, GROUP, id, id, "1"])
            .query(redis)?;
        // Not pending any more: another worker has succeeded meanwhile.
        Ok(pending.ids.first().map_or(0, |entry| entry.times_delivered))
    }

    /// Moves an entry to the stream of failed ones, in one step.
    fn give_up(&self, redis: &mut Connection, job: &StreamId) -> RedisResult<()> {
        let mut add = cmd("XADD");
        add.arg(&[&format!("{}:failed", self.stream), "*", "id", &job.id]);
        for (name, value) in &job.map {
            // Redis has bytes only in entries.
            if let Value::BulkString(value) = value {
                add.arg(name).arg(value);
            }
        }
        redis::pipe()
            .atomic()
            .add_command(add)
            .cmd("XACK")
            .arg(&[&self.stream, GROUP, &job.id])
            .cmd("XDEL")
            .arg(&[&self.stream, &job.id])
            .exec(redis)
    }
}

/// Writes a line to standard error, on a thread of `blocking`, so that no fiber waits with a lock of
/// `std`.
fn say(line: fmt::Arguments<'_>) {
    let line = format!("{line}\n");
    // Nothing can be said about a failure.
    let _ = pirn::blocking(move || io::stderr().write_all(line.as_bytes()));
}

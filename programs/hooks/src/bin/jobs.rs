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
//!   fails at delivery [`TRIES`] or later. It has its fields there, and its former number as
//!   `jobs:id`. After a failure of Redis it may stand there twice.
//! * After SIGTERM or Ctrl-C a worker takes no more entries after at most half a second, and ends
//!   when its commands have ended.
//! * If Redis fails or does not answer, the worker tries again every second. It ends if Redis refuses
//!   a stream when the worker begins: the name is that of another value, or a password is missing.
//! * The exit code is 1 if the outcome of a last command could not be reported to Redis: its job is
//!   left for other workers.
//!
//! Each of the [`AT_ONCE`] fibers is blocking code: a client for Redis and `std::process`.
#![expect(clippy::disallowed_methods, reason = "processes of `std`, unchanged")]

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{self, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, ensure};
use clap::Parser;
use pirn::Runtime;
use pirn::cancel::Token;
use pirn::signal::{Signal, cancel_on};
use pirn::sync::Event;
use pirn_hooks as _;
use pirn_programs::{exit, jobs, log};
use redis::streams::{
    StreamAutoClaimReply, StreamId, StreamPendingCountReply, StreamReadReply,
};
use redis::{Client, Connection, ErrorKind, RedisError, RedisResult, Value, cmd};

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

/// Runs a command for each entry of a stream of Redis, which many of these processes share.
#[derive(Parser)]
#[command(name = "jobs")]
struct Args {
    /// The server: HOST:PORT, or USER:PASSWORD@HOST:PORT
    redis: String,
    /// The name of the stream, which is created unless it exists
    stream: String,
    /// Seconds after which a worker takes over the entry of one that has died: 0.01 to 86400
    #[arg(value_parser = jobs::claim)]
    claim: Duration,
    /// The command, which is given the field `line` of the entry as its last argument
    #[arg(required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// One process, as a consumer of the group.
struct Worker {
    client: Client,
    stream: String,
    /// Its name in the group. No other process may have it: entries are claimed by name.
    name: String,
    claim: Duration,
    command: Vec<OsString>,
}

fn main() -> ExitCode {
    exit("jobs", start(Args::parse()))
}

fn start(args: Args) -> anyhow::Result<()> {
    jobs::find(&args.command[0])?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let client = Client::open(format!("redis://{}/", args.redis));
    let worker = &Worker {
        client: client
            .with_context(|| format!("'{}' is no server", jobs::address(&args.redis)))?,
        stream: args.stream,
        name: format!("{}-{}", process::id(), now.as_nanos()),
        claim: args.claim,
        command: args.command,
    };
    let stop = &Token::new();
    let _signals = cancel_on(&[Signal::TERM, Signal::INT], stop)?;
    // The consumer is not deleted at the end: Redis would delete its pending entries too, and other
    // workers could not claim them. So the names of consumers accumulate.
    Runtime::builder().hooks(true).build()?.run(|| {
        if let Err(error) = worker.connect()
            && is_refusal(&error)
        {
            return Err(error).with_context(|| worker.to_string());
        }
        let unfinished: usize = pirn::scope(|s| {
            let fibers = [(); AT_ONCE].map(|()| s.spawn(|| worker.serve(stop)));
            let ended = fibers.map(|fiber| fiber.join().expect("no fiber panics"));
            ended.into_iter().map(usize::from).sum()
        });
        ensure!(
            unfinished == 0,
            "{unfinished} entries are left for other workers"
        );
        Ok(())
    })
}

/// Returns true for an error that another try does not change.
fn is_refusal(error: &RedisError) -> bool {
    error.kind() == ErrorKind::AuthenticationFailed
        || matches!(error.code(), Some("WRONGTYPE" | "NOAUTH" | "NOPERM"))
}

/// Its stream, for messages.
impl fmt::Display for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.client.get_connection_info().addr();
        write!(f, "the stream {} at {address}", self.stream)
    }
}

impl Worker {
    /// Runs jobs until `stop` is cancelled. Returns true if the outcome of the last job could not be
    /// told to Redis, which has not answered since.
    fn serve(&self, stop: &Token) -> bool {
        let mut connection = None;
        let mut is_untold = false;
        while !stop.is_cancelled() {
            let next = self.next(&mut connection);
            let (is_job, ended) = match next {
                Ok(Some((redis, job))) => (true, self.run(redis, &job)),
                Ok(None) => (false, Ok(())),
                Err(error) => (false, Err(error)),
            };
            // A failure to get another job says nothing about the last one.
            if is_job || ended.is_ok() {
                is_untold = ended.is_err();
            }
            if let Err(error) = ended {
                // A late reply would answer the next request.
                connection = None;
                log(format_args!("jobs: {self}: {error}"));
                // An interruption is the shutdown.
                let _ = stop.enter(|| pirn::sleep(RETRY));
            }
        }
        is_untold
    }

    /// Returns the next entry, if one comes.
    fn next<'a>(
        &self,
        connection: &'a mut Option<Connection>,
    ) -> RedisResult<Option<(&'a mut Connection, StreamId)>> {
        let redis = match connection {
            Some(redis) => redis,
            None => connection.insert(self.connect()?),
        };
        let job = match self.claim(redis)? {
            None => self.read(redis)?,
            claimed => claimed,
        };
        Ok(job.map(|job| (redis, job)))
    }

    /// Connects, and creates the stream and the group if they do not exist.
    fn connect(&self) -> RedisResult<Connection> {
        let mut redis = self.open()?;
        let created = cmd("XGROUP")
            .arg(&["CREATE", &self.stream, GROUP, "0", "MKSTREAM"])
            .exec(&mut redis);
        if let Err(error) = created
            && error.code() != Some("BUSYGROUP")
        {
            return Err(error);
        }
        // An error if it is no stream.
        cmd("XLEN").arg(self.failed()).exec(&mut redis)?;
        Ok(redis)
    }

    /// Returns the name of the stream of jobs that have been given up.
    fn failed(&self) -> String {
        format!("{}:failed", self.stream)
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
            log(format_args!("job {} has no line", job.id));
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
        let Some(tries) = self.tries(redis, &job.id)? else {
            return Ok(());
        };
        log(format_args!(
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

    /// Returns how often an entry has been delivered; `None` if another worker has succeeded
    /// meanwhile.
    fn tries(&self, redis: &mut Connection, id: &str) -> RedisResult<Option<usize>> {
        let pending: StreamPendingCountReply = cmd("XPENDING")
            .arg(&[&self.stream, GROUP, id, id, "1"])
            .query(redis)?;
        Ok(pending.ids.first().map(|entry| entry.times_delivered))
    }

    /// Moves an entry to the stream of failed ones. In two steps: the second one would be taken even if
    /// the first one of a transaction fails.
    fn give_up(&self, redis: &mut Connection, job: &StreamId) -> RedisResult<()> {
        let mut add = cmd("XADD");
        add.arg(&[&self.failed(), "*", "jobs:id", &job.id]);
        for (name, value) in &job.map {
            // Redis has bytes only in entries.
            if let Value::BulkString(value) = value {
                add.arg(name).arg(value);
            }
        }
        add.exec(redis)?;
        self.acknowledge(redis, &job.id)
    }
}

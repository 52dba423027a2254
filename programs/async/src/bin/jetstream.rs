//! A worker of a job queue that many processes share: a stream of NATS JetStream.
//!
//! `jetstream SERVER QUEUE CLAIM COMMAND…` runs the command for each message on the subject QUEUE,
//! with the message as its last argument. Any number of these processes, on any number of machines,
//! share the messages: each goes to one of them. The first one creates the stream; a message that is
//! published before that is lost.
//!
//! * A message is acknowledged when its command has succeeded, and the server deletes it then. If that
//!   does not happen within CLAIM seconds, because its worker has died, the server delivers it again.
//!   So a command runs at least once for each message, and sometimes again.
//! * While a command runs, its worker renews the claim, so that no other worker gets the message. All
//!   workers of a queue have the same CLAIM.
//! * After a failure of the command the message is delivered again after CLAIM seconds. If it fails
//!   at delivery [`TRIES`] or later, it goes to the stream `QUEUE-failed`.
//! * After SIGTERM or Ctrl-C a worker takes no more messages, and ends when its commands have ended.
//! * If the server fails or does not answer, the worker tries again every second.
//!
//! The client for NATS is async code that needs tokio's timers and sockets; each of the [`AT_ONCE`]
//! fibers is plain code that waits for its futures.

use std::env;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::stream::{self, RetentionPolicy};
use async_nats::jetstream::{self, AckKind, Context, Message};
use async_nats::{ConnectOptions, Event as Told};
use futures_util::StreamExt as _;
use pirn::Runtime;
use pirn::cancel::Token;
use pirn::future::tokio::compat;
use pirn::future::wait;
use pirn::process::Command;
use pirn::signal::{Signal, cancel_on};
use pirn::sync::Event;
use pirn_programs::{exit, log};

/// How many commands a process runs at once. Arbitrary.
const AT_ONCE: usize = 8;

/// The durable consumer that all workers share.
const GROUP: &str = "jobs";

/// A message is given up if its command fails at this delivery or a later one. Arbitrary.
const TRIES: i64 = 5;

/// How many requests for messages wait at the server, of all workers. Arbitrary.
const WAITING: i64 = 8_192;

/// How long a request for a message waits at the server. Arbitrary.
const BLOCK: Duration = Duration::from_secs(1);

/// How long a worker waits after an error of the server. Arbitrary.
const RETRY: Duration = Duration::from_secs(1);

/// How long the server may take to answer. Arbitrary; longer than [`BLOCK`] and than the limit of the
/// client, 5 s.
const LIMIT: Duration = Duration::from_secs(10);

/// The least and the greatest time after which a message is delivered again. Arbitrary.
const LEAST: Duration = Duration::from_millis(10);
const MOST: Duration = Duration::from_secs(86_400);

/// The queue is another one than this worker is for, which another try does not change.
#[derive(Debug)]
struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Refused {}

/// One process.
struct Worker {
    jetstream: Context,
    queue: String,
    claim: Duration,
    command: Vec<String>,
}

fn main() -> ExitCode {
    let args = env::args_os().skip(1).map(OsString::into_string);
    let Ok(args) = args.collect::<Result<Vec<_>, _>>() else {
        return usage();
    };
    let [server, queue, claim, command @ ..] = &args[..] else {
        return usage();
    };
    let claim = claim.parse().ok().map(Duration::try_from_secs_f64);
    let Some(Ok(claim)) = claim else {
        return usage();
    };
    // What a name of a stream may not have.
    let is_special =
        |c: char| c.is_whitespace() || c.is_control() || ".*>/\\".contains(c);
    if command.is_empty()
        || !(LEAST..=MOST).contains(&claim)
        || server.is_empty()
        || queue.is_empty()
        || queue.contains(is_special)
    {
        return usage();
    }
    exit("jetstream", start(server, queue, claim, command))
}

/// Returns true if there is a file that the command may be. A wrong name would make all jobs fail.
fn is_there(command: &str) -> bool {
    if command.contains('/') {
        return Path::new(command).exists();
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(command).exists())
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: jetstream SERVER QUEUE CLAIM COMMAND…; QUEUE has no spaces and none of . * > / \\, \
         CLAIM is in seconds, from 0.01 to 86400"
    );
    ExitCode::from(2)
}

fn start(
    server: &str,
    queue: &str,
    claim: Duration,
    command: &[String],
) -> anyhow::Result<()> {
    ensure!(is_there(&command[0]), "no command '{}' in PATH", command[0]);
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("cannot start tokio")?;
    let stop = &Token::new();
    let _signals = cancel_on(&[Signal::TERM, Signal::INT], stop)
        .context("cannot listen to signals")?;
    let runtime = Runtime::builder().tokio(tokio.handle().clone()).build()?;
    runtime.run(|| {
        // Connections are made in the background, again and again.
        let options = ConnectOptions::new()
            .retry_on_initial_connect()
            .event_callback(async |event| {
                if !matches!(event, Told::Connected) {
                    log(format_args!("jetstream: {event}"));
                }
            });
        // The client starts tasks of tokio.
        let jetstream = ask(async {
            let client = options.connect(server).await?;
            anyhow::Ok(jetstream::new(client))
        });
        let jetstream =
            jetstream.with_context(|| format!("cannot use the server '{server}'"))?;
        let worker = &Worker {
            jetstream,
            queue: queue.to_owned(),
            claim,
            command: command.to_owned(),
        };
        if let Err(error) = worker.open()
            && error.is::<Refused>()
        {
            return Err(error);
        }
        pirn::scope(|s| {
            for _ in 0..AT_ONCE {
                s.spawn(|| worker.serve(stop));
            }
        });
        Ok(())
    })
}

/// Waits for an answer of the server, for [`LIMIT`] at most.
fn ask<T, E: Into<anyhow::Error>>(
    answer: impl Future<Output = Result<T, E>>,
) -> anyhow::Result<T> {
    let answered = pirn::timeout(LIMIT, || wait(compat(answer)))
        .with_context(|| format!("no answer in {LIMIT:?}"))?;
    answered?.map_err(Into::into)
}

impl Worker {
    /// Runs jobs until `stop` is cancelled.
    fn serve(&self, stop: &Token) {
        let mut consumer = None;
        while !stop.is_cancelled() {
            let next = stop.enter(|| self.next(&mut consumer));
            let ended = match next {
                Ok(Some(job)) => self.run(&job),
                Ok(None) => Ok(()),
                // A message that was on its way is delivered again.
                Err(_) if stop.is_cancelled() => return,
                Err(error) => Err(error),
            };
            if let Err(error) = ended {
                consumer = None;
                log(format_args!("jetstream: {error:#}; again in {RETRY:?}"));
                // An interruption is the shutdown.
                let _ = stop.enter(|| pirn::sleep(RETRY));
            }
        }
    }

    /// Returns the next message, if one comes within [`BLOCK`].
    fn next(
        &self,
        consumer: &mut Option<PullConsumer>,
    ) -> anyhow::Result<Option<Message>> {
        let consumer = match consumer {
            Some(consumer) => consumer,
            None => consumer.insert(self.open().context("cannot open the queue")?),
        };
        // The request ends in tokio's context: its end starts a task.
        ask(async {
            let request = consumer.batch().max_messages(1).expires(BLOCK);
            let mut messages = request.messages().await?;
            let message = messages.next().await.transpose();
            message.map_err(anyhow::Error::from_boxed)
        })
    }

    /// Creates the streams and the consumer, unless they exist.
    fn open(&self) -> anyhow::Result<PullConsumer> {
        let failed = stream::Config {
            name: self.failed(),
            subjects: vec![self.failed()],
            ..stream::Config::default()
        };
        ask(self.jetstream.get_or_create_stream(failed))?;
        let jobs = stream::Config {
            name: self.queue.clone(),
            subjects: vec![self.queue.clone()],
            // A message is deleted when it is acknowledged.
            retention: RetentionPolicy::WorkQueue,
            ..stream::Config::default()
        };
        let jobs = ask(self.jetstream.get_or_create_stream(jobs))?;
        let found = &jobs.cached_info().config;
        if found.retention != RetentionPolicy::WorkQueue
            || !found.subjects.contains(&self.queue)
        {
            let why = "exists, and is no work queue with this subject";
            return Err(Refused(format!("the stream {} {why}", self.queue)).into());
        }
        let group = pull::Config {
            durable_name: Some(GROUP.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.claim,
            // Jobs that have failed, and wait for the next delivery, count too.
            max_ack_pending: -1,
            max_waiting: WAITING,
            ..pull::Config::default()
        };
        let consumer = ask(jobs.get_or_create_consumer(GROUP, group))?;
        let claim = consumer.cached_info().config.ack_wait;
        if claim != self.claim {
            let (queue, own) = (&self.queue, self.claim);
            let why = format!("have claims of {claim:?}, and this one of {own:?}");
            return Err(Refused(format!("the workers of the queue {queue} {why}")).into());
        }
        Ok(consumer)
    }

    /// Returns the name and the subject of the stream of jobs that have been given up.
    fn failed(&self) -> String {
        format!("{}-failed", self.queue)
    }

    /// Runs the command for a message, and acknowledges the message if it succeeds.
    fn run(&self, job: &Message) -> anyhow::Result<()> {
        let delivery = job.info().map_err(anyhow::Error::from_boxed)?;
        let (number, tries) = (delivery.stream_sequence, delivery.delivered);
        let line = OsStr::from_bytes(&job.payload);
        let over = Event::manual();
        let ended = pirn::scope(|s| {
            s.spawn(|| self.renew(job, &over));
            let ended = self.command(line);
            over.set();
            ended
        });
        let error = match ended {
            Ok(status) if status.success() => return acknowledge(job, number),
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        log(format_args!(
            "job {number} failed, delivery {tries} of {TRIES}: {error}"
        ));
        match tries < TRIES {
            true => answer(job, AckKind::Nak(Some(self.claim))),
            false => self.give_up(job, number),
        }
    }

    /// Runs the command to its end, in a process group of its own: Ctrl-C is for the worker.
    fn command(&self, line: &OsStr) -> std::io::Result<ExitStatus> {
        Command::new(&self.command[0])
            .args(&self.command[1..])
            .arg(line)
            .stdin(Stdio::null())
            .process_group(0)
            .status()
    }

    /// Renews the claim on a message until its command is over.
    fn renew(&self, job: &Message, over: &Event) {
        // An interruption does not come: the scope cancels nothing.
        while over.wait_timeout(self.claim / 3) == Ok(false) {
            // After a failure another worker may get the message too: it runs at least once.
            let _ = answer(job, AckKind::Progress);
        }
    }

    /// Moves a message to the stream of failed ones. The number of the message keeps the server from
    /// storing it twice, if the answer of the server is lost and the next try follows within minutes.
    fn give_up(&self, job: &Message, number: u64) -> anyhow::Result<()> {
        let mut headers = job.headers.clone().unwrap_or_default();
        headers.insert("Nats-Msg-Id", format!("{}-{number}", self.queue));
        ask(async {
            let (failed, line) = (self.failed(), job.payload.clone());
            let stored = self.jetstream.publish_with_headers(failed, headers, line);
            anyhow::Ok(stored.await?.await?)
        })?;
        acknowledge(job, number)
    }
}

/// Acknowledges a message, and waits until the server has deleted it. The connection may have been
/// lost while the command ran, so it tries twice.
fn acknowledge(job: &Message, number: u64) -> anyhow::Result<()> {
    let once =
        || ask(async { job.double_ack().await.map_err(anyhow::Error::from_boxed) });
    let acknowledged = once().or_else(|_| once());
    acknowledged.with_context(|| format!("job {number} has run, and may run again"))
}

fn answer(job: &Message, kind: AckKind) -> anyhow::Result<()> {
    ask(async { job.ack_with(kind).await.map_err(anyhow::Error::from_boxed) })
}

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
//! * If the server fails, does not answer or refuses a password, the worker tries again and again.
//! * The exit code is 1 if the outcome of a last command could not be reported to the server: its
//!   job is left for other workers.
//!
//! The client for NATS is async code that needs tokio's timers and sockets; each of the [`AT_ONCE`]
//! fibers is plain code that waits for its futures.

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::stream::{self, RetentionPolicy};
use async_nats::jetstream::{self, AckKind, Context, Message};
use async_nats::{Client, ConnectOptions, Event as Told, HeaderMap};
use clap::Parser;
use clap::builder::NonEmptyStringValueParser;
use futures_util::StreamExt as _;
use pirn::Runtime;
use pirn::cancel::Token;
use pirn::future::tokio::compat;
use pirn::future::wait;
use pirn::process::Command;
use pirn::signal::{Signal, cancel_on};
use pirn::sync::Event;
use pirn_programs::{exit, jobs, log};

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

/// How often a job is acknowledged, if the server does not answer. Arbitrary.
const TELLS: usize = 3;

/// How long the server may take to answer. Arbitrary; longer than [`BLOCK`] and than the limit of the
/// client, 5 s.
const LIMIT: Duration = Duration::from_secs(10);

/// Runs a command for each message of a queue in NATS JetStream, which many of these processes share.
#[derive(Parser)]
#[command(name = "jetstream")]
struct Args {
    /// The server: HOST:PORT, or USER:PASSWORD@HOST:PORT
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    server: String,
    /// The name of the queue, which is created unless it exists: no spaces, and none of . * > / \
    #[arg(value_parser = queue)]
    queue: String,
    /// Seconds after which a job of a worker that has died is delivered again: 0.01 to 86400. The
    /// first worker of a queue sets it for all
    #[arg(value_parser = jobs::claim)]
    claim: Duration,
    /// The command, which is given the message as its last argument
    #[arg(required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

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
    client: Client,
    jetstream: Context,
    queue: String,
    claim: Duration,
    command: Vec<OsString>,
}

fn main() -> ExitCode {
    exit("jetstream", start(Args::parse()))
}

/// Reads the name of a queue, which is the name of a stream and a subject.
fn queue(text: &str) -> Result<String, String> {
    let is_special =
        |c: char| c.is_whitespace() || c.is_control() || ".*>/\\".contains(c);
    match text.is_empty() || text.contains(is_special) {
        true => Err("a name without spaces and . * > / \\ is needed".to_owned()),
        false => Ok(text.to_owned()),
    }
}

fn start(args: Args) -> anyhow::Result<()> {
    jobs::find(&args.command[0])?;
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
        let opened = ask(async {
            let client = options.connect(&args.server).await?;
            anyhow::Ok((client.clone(), jetstream::new(client)))
        });
        let (client, jetstream) = opened.with_context(|| {
            format!("cannot use the server '{}'", jobs::address(&args.server))
        })?;
        let worker = &Worker {
            client,
            jetstream,
            queue: args.queue,
            claim: args.claim,
            command: args.command,
        };
        if let Err(error) = worker.open()
            && error.is::<Refused>()
        {
            return Err(error);
        }
        let unfinished: usize = pirn::scope(|s| {
            let fibers = [(); AT_ONCE].map(|()| s.spawn(|| worker.serve(stop)));
            let ended = fibers.map(|fiber| fiber.join().expect("no fiber panics"));
            ended.into_iter().map(usize::from).sum()
        });
        ensure!(
            unfinished == 0,
            "{unfinished} jobs are left for other workers"
        );
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
    /// Runs jobs until `stop` is cancelled. Returns true if the outcome of the last job could not be
    /// told to the server, which has not answered since.
    fn serve(&self, stop: &Token) -> bool {
        let mut consumer = None;
        let mut is_untold = false;
        while !stop.is_cancelled() {
            let next = stop.enter(|| self.next(&mut consumer));
            let (is_job, ended) = match next {
                Ok(Some(job)) => (true, self.run(&job)),
                Ok(None) => (false, Ok(())),
                // A message that was on its way is delivered again.
                Err(_) if stop.is_cancelled() => return is_untold,
                Err(error) => (false, Err(error)),
            };
            // A failure to get another job says nothing about the last one.
            if is_job || ended.is_ok() {
                is_untold = ended.is_err();
            }
            if let Err(error) = ended {
                consumer = None;
                log(format_args!("jetstream: {error:#}"));
                // An interruption is the shutdown.
                let _ = stop.enter(|| pirn::sleep(RETRY));
            }
        }
        is_untold
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
        let failed = ask(self.jetstream.get_or_create_stream(failed))?;
        if !failed
            .cached_info()
            .config
            .subjects
            .contains(&self.failed())
        {
            let why = "exists, and has not its name as a subject";
            return Err(Refused(format!("the stream {} {why}", self.failed())).into());
        }
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
            let why = format!(
                "the queue {queue} has claims of {claim:?}, and this worker of {own:?}: to change \
                 them, stop the workers and delete the consumer {GROUP} of the stream"
            );
            return Err(Refused(why).into());
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
            Ok(status) if status.success() => return self.acknowledge(job, number),
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
        let mut headers = HeaderMap::new();
        for (name, values) in job.headers.iter().flat_map(HeaderMap::iter) {
            // The server obeys its own ones: what was expected of the first stream.
            if !AsRef::<str>::as_ref(name).starts_with("Nats-") {
                let values = values.iter().cloned();
                values.for_each(|value| headers.append(name.clone(), value));
            }
        }
        headers.insert("Nats-Msg-Id", format!("{}-{number}", self.queue));
        ask(async {
            let (failed, line) = (self.failed(), job.payload.clone());
            let stored = self.jetstream.publish_with_headers(failed, headers, line);
            anyhow::Ok(stored.await?.await?)
        })?;
        self.acknowledge(job, number)
    }

    /// Acknowledges a message, and waits until the server has deleted it. The connection may have
    /// been lost while the command ran, so it tries several times.
    ///
    /// It is a request, since that fails if the server has no use for the message: after a start the
    /// server may take connections before it has its streams.
    fn acknowledge(&self, job: &Message, number: u64) -> anyhow::Result<()> {
        let once = || {
            ask(async {
                let to = job
                    .reply
                    .clone()
                    .context("a message without a subject for its answer")?;
                let told = self.client.request(to, "+ACK".into()).await;
                told.map(drop).map_err(anyhow::Error::from)
            })
        };
        let mut told = once();
        for _ in 1..TELLS {
            if told.is_err() {
                pirn::sleep(RETRY)?;
                told = once();
            }
        }
        told.with_context(|| format!("job {number} has run, and may run again"))
    }
}

fn answer(job: &Message, kind: AckKind) -> anyhow::Result<()> {
    ask(async { job.ack_with(kind).await.map_err(anyhow::Error::from_boxed) })
}

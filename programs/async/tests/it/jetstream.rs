//! The job queue in NATS JetStream: every job runs, whatever happens to a worker.

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use async_nats::jetstream::{self, stream};
use tokio::runtime::Runtime;

use crate::peers::{LIMIT, Program, directory, peer};

const JOBS: u64 = 300;

/// How many commands a worker runs at once.
const AT_ONCE: usize = 8;

/// A server, with a client of it.
struct Queue {
    server: Option<Program>,
    port: u16,
    /// Where the server keeps its streams.
    data: std::path::PathBuf,
    tokio: Runtime,
    jetstream: jetstream::Context,
}

impl Queue {
    /// Starts a server; `None`, for a test that is skipped, if it is missing.
    fn start(test: &str) -> Option<Queue> {
        let data = directory(test);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let server = serve(&data, port)?;
        let tokio = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let jetstream = tokio.block_on(async {
            let client = async_nats::connect(format!("127.0.0.1:{port}"));
            jetstream::new(client.await.unwrap())
        });
        Some(Queue {
            server: Some(server),
            port,
            data,
            tokio,
            jetstream,
        })
    }

    /// Starts a worker that gets jobs again after `claim` seconds.
    fn worker(&self, claim: &str, command: &[&str]) -> Program {
        Program::start(&mut self.command(claim, command))
    }

    /// Returns the command that [`Queue::worker`] runs.
    fn command(&self, claim: &str, command: &[&str]) -> Command {
        let mut worker = Command::new(env!("CARGO_BIN_EXE_jetstream"));
        worker.args([&format!("127.0.0.1:{}", self.port), "queue", claim]);
        worker.args(command);
        worker
    }

    /// Adds jobs with the numbers from 0 on, once a worker has made the stream.
    fn add(&self, jobs: u64) {
        await_that("the stream exists", || self.messages("queue").is_some());
        (0..jobs).for_each(|job| self.add_one(job.to_string()));
    }

    fn add_one(&self, job: String) {
        self.tokio.block_on(async {
            let stored = self.jetstream.publish("queue", job.into());
            stored.await.unwrap().await.unwrap();
        });
    }

    /// Returns the number of messages of a stream, if it exists.
    fn messages(&self, stream: &str) -> Option<u64> {
        self.tokio.block_on(async {
            let mut stream: stream::Stream =
                self.jetstream.get_stream(stream).await.ok()?;
            Some(stream.info().await.ok()?.state.messages)
        })
    }

    /// Returns the number of jobs that wait for a worker or for an acknowledgement.
    fn left(&self) -> Option<u64> {
        self.tokio.block_on(async {
            let queue = self.jetstream.get_stream("queue").await.ok()?;
            let jobs = queue.consumer_info("jobs").await.ok()?;
            Some(jobs.num_pending + jobs.num_ack_pending as u64)
        })
    }
}

/// Starts a server on this port, and waits until it accepts.
fn serve(data: &Path, port: u16) -> Option<Program> {
    let mut server = peer("nats-server", "nats-server")?;
    server.args([
        "--addr",
        "127.0.0.1",
        "--port",
        &port.to_string(),
        "--jetstream",
    ]);
    server.arg("--store_dir").arg(data).stderr(Stdio::null());
    let server = Program::start(&mut server);
    await_that("the server accepts", || {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    Some(server)
}

/// Three workers share the jobs. One is killed, with its jobs unfinished, one is ended by SIGTERM,
/// and one starts late.
#[test]
fn no_job_is_lost_with_its_worker() {
    let Some(queue) = Queue::start("nats-lost") else {
        return;
    };
    let done = queue.data.join("done");
    // With the pause some jobs are running when the worker is killed.
    let script = format!("sleep 0.05; echo $1 $PPID >> {}", done.display());
    let worker = || queue.worker("1", &["sh", "-c", &script, "job"]);
    let (killed, ended, _stays) = (worker(), worker(), worker());
    queue.add(0);
    await_that("all take part", || {
        queue.add_one("first".to_owned());
        workers(&done) == 3
    });
    queue.add(JOBS);
    let all = JOBS as usize;
    await_that("a third", || times(&done).len() > all / 3);
    drop(killed);
    let _late = worker();
    await_that("a half", || times(&done).len() > all / 2);
    ended.terminate();
    assert!(ended.end().status.success());
    await_that("all", || times(&done).len() == all);
    await_that("no message is left", || queue.messages("queue") == Some(0));
    // The commands of the killed worker went on, and their jobs ran again on another one.
    let again = times(&done).values().filter(|times| **times > 1).count();
    println!("{again} of {JOBS} jobs ran again");
    assert!(again > 0, "the killed worker had no job");
}

/// The server is killed in the middle and started again: the workers reconnect, and all jobs run.
#[test]
fn no_job_is_lost_with_the_server() {
    let Some(mut queue) = Queue::start("nats-server") else {
        return;
    };
    let done = queue.data.join("done");
    let script = format!("sleep 0.05; echo $1 $PPID >> {}", done.display());
    let worker = || queue.worker("1", &["sh", "-c", &script, "job"]);
    let workers = [worker(), worker()];
    queue.add(JOBS);
    let all = JOBS as usize;
    await_that("a third", || times(&done).len() > all / 3);
    drop(queue.server.take());
    thread::sleep(Duration::from_millis(500));
    queue.server = serve(&queue.data, queue.port);
    await_that("all", || times(&done).len() == all);
    // A server of that version that was killed may keep messages that were acknowledged before.
    await_that("no job is left", || queue.left() == Some(0));
    for worker in workers {
        worker.terminate();
        assert!(worker.end().status.success());
    }
}

/// No other worker gets a job that runs for longer than the time after which it is delivered again.
#[test]
fn a_long_job_runs_once() {
    let Some(queue) = Queue::start("nats-long") else {
        return;
    };
    let done = queue.data.join("done");
    let script = format!("echo $1 $PPID >> {}; sleep 5", done.display());
    let worker = || queue.worker("2", &["sh", "-c", &script, "job"]);
    let _workers = [worker(), worker()];
    queue.add(1);
    await_that("it has run", || times(&done).len() == 1);
    await_that("it is acknowledged", || queue.messages("queue") == Some(0));
    assert_eq!(times(&done).into_values().collect::<Vec<_>>(), [1]);
}

/// A job that fails five times is set aside, and does not stop others.
#[test]
fn a_job_that_fails_is_set_aside() {
    let Some(queue) = Queue::start("nats-failed") else {
        return;
    };
    let done = queue.data.join("done");
    let script = format!("echo $1 $PPID >> {}; test $1 != 1", done.display());
    let _worker = queue.worker("2", &["sh", "-c", &script, "job"]);
    queue.add(3);
    await_that("one is set aside", || {
        queue.messages("queue-failed") == Some(1)
    });
    await_that("no message is left", || queue.messages("queue") == Some(0));
    let times: Vec<_> = times(&done).into_iter().collect();
    let expected =
        [("0", 1), ("1", 5), ("2", 1)].map(|(job, times)| (job.to_owned(), times));
    assert_eq!(times, expected);
}

/// A worker with another claim than the others, or with a command that is not there, ends at once.
#[test]
fn a_worker_that_does_not_fit_ends() {
    let Some(queue) = Queue::start("nats-refused") else {
        return;
    };
    let _worker = queue.worker("2", &["true"]);
    queue.add(0);
    await_that("there is a consumer", || queue.left() == Some(0));
    let other = queue.worker("3", &["true"]).end();
    assert_eq!(other.status.code(), Some(1));
    let missing = queue.worker("2", &["no-such-command"]).end();
    assert_eq!(missing.status.code(), Some(1));
    let endless = queue.worker("1e10", &["true"]).end();
    assert_eq!(endless.status.code(), Some(2));
}

/// A job that ends after the server and after SIGTERM cannot be acknowledged: the worker says so by
/// its exit code.
#[test]
fn a_job_that_is_not_acknowledged_fails_its_worker() {
    let Some(mut queue) = Queue::start("nats-unacknowledged") else {
        return;
    };
    let done = queue.data.join("done");
    let script = format!("echo $1 $PPID >> {}; sleep 3", done.display());
    let worker = queue.worker("60", &["sh", "-c", &script, "job"]);
    queue.add(1);
    await_that("it runs", || times(&done).len() == 1);
    worker.terminate();
    drop(queue.server.take());
    assert_eq!(worker.end().status.code(), Some(1));
}

/// So it does if it has looked for other jobs in vain between the two.
#[test]
fn a_job_that_is_not_acknowledged_is_not_forgotten() {
    let Some(mut queue) = Queue::start("nats-unforgotten") else {
        return;
    };
    let [done, go, log] = ["done", "go", "log"].map(|name| queue.data.join(name));
    // It ends in any case, also after a test that fails.
    let script = format!(
        "echo $1 $PPID >> {}; for n in $(seq 600); do test -e {} && break; sleep 0.1; done",
        done.display(),
        go.display()
    );
    let mut command = queue.command("60", &["sh", "-c", &script, "job"]);
    let worker = Program::start(command.stderr(fs::File::create(&log).unwrap()));
    queue.add(AT_ONCE as u64);
    await_that("all run", || times(&done).len() == AT_ONCE);
    drop(queue.server.take());
    fs::write(&go, "").unwrap();
    let count = |text: &str| fs::read_to_string(&log).unwrap().matches(text).count();
    await_that("none is acknowledged", || count("may run again") == AT_ONCE);
    await_that("all have looked for another job", || {
        count("cannot open the queue") >= AT_ONCE
    });
    worker.terminate();
    assert_eq!(worker.end().status.code(), Some(1));
}

/// Returns how often each job with a number has begun.
fn times(done: &Path) -> BTreeMap<String, usize> {
    let mut times = count(done, 0);
    times.remove("first");
    times
}

/// Returns the number of workers that have run a job.
fn workers(done: &Path) -> usize {
    count(done, 1).len()
}

/// Counts the words at one place of all lines.
fn count(done: &Path, place: usize) -> BTreeMap<String, usize> {
    let mut times = BTreeMap::new();
    // The file does not exist before the first job.
    let lines = fs::read_to_string(done).unwrap_or_default();
    for word in lines.lines().filter_map(|line| line.split(' ').nth(place)) {
        *times.entry(word.to_owned()).or_default() += 1;
    }
    times
}

#[track_caller]
fn await_that(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LIMIT, "not in {LIMIT:?}: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

//! The job queue in Redis: every job runs, whatever happens to a worker.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use redis::streams::StreamRangeReply;
use redis::{Client, Connection, cmd};

use crate::peers::{LIMIT, Program, directory};
use crate::pools::redis_server;

const JOBS: usize = 300;

/// How many commands a worker runs at once.
const AT_ONCE: usize = 8;

/// Three workers share the jobs. One is killed, with its jobs unfinished, one is ended by SIGTERM,
/// and one starts late.
#[test]
fn no_job_is_lost_with_its_worker() {
    let Some((_server, client)) = redis_server() else {
        return;
    };
    let mut redis = client.get_connection().unwrap();
    add(&mut redis, JOBS);
    let done = directory("jobs-lost").join("done");
    // With the pause some jobs are running when the worker is killed.
    let script = format!("sleep 0.05; echo $1 >> {}", done.display());
    let worker = || start(&client, "1", &["sh", "-c", &script, "job"]);
    let (killed, ended, _stays) = (worker(), worker(), worker());
    await_that("all take part", || consumers(&mut redis) == 3);
    await_that("a third", || times(&done).len() > JOBS / 3);
    drop(killed);
    let _late = worker();
    await_that("a half", || times(&done).len() > JOBS / 2);
    ended.terminate();
    assert!(ended.end().status.success());
    await_that("all", || times(&done).len() == JOBS);
    await_that("no entry is pending", || pending(&mut redis) == 0);
    // The commands of the killed worker went on, and their jobs ran again on another one.
    let again = times(&done).values().filter(|times| **times > 1).count();
    println!("{again} of {JOBS} jobs ran again");
    assert!(again > 0, "the killed worker had no job");
}

/// No other worker takes a job that runs for longer than the time after which it is claimed.
#[test]
fn a_long_job_runs_once() {
    let Some((_server, client)) = redis_server() else {
        return;
    };
    let mut redis = client.get_connection().unwrap();
    add(&mut redis, 1);
    let done = directory("jobs-long").join("done");
    let script = format!("echo $1 >> {}; sleep 5", done.display());
    let worker = || start(&client, "2", &["sh", "-c", &script, "job"]);
    let _workers = [worker(), worker()];
    await_that("it has run", || times(&done).len() == 1);
    await_that("it is acknowledged", || pending(&mut redis) == 0);
    assert_eq!(times(&done).into_values().collect::<Vec<_>>(), [1]);
}

/// A job that fails five times is set aside, and does not stop others.
#[test]
fn a_job_that_fails_is_set_aside() {
    let Some((_server, client)) = redis_server() else {
        return;
    };
    let mut redis = client.get_connection().unwrap();
    add(&mut redis, 3);
    let done = directory("jobs-failed").join("done");
    let script = format!("echo $1 >> {}; test $1 != 1", done.display());
    let _worker = start(&client, "1", &["sh", "-c", &script, "job"]);
    let mut set_aside = || -> usize {
        let count = cmd("XLEN").arg("queue:failed").query(&mut redis);
        count.unwrap()
    };
    await_that("one is set aside", || set_aside() == 1);
    await_that("no entry is pending", || pending(&mut redis) == 0);
    let times: Vec<_> = times(&done).into_iter().collect();
    let expected =
        [("0", 1), ("1", 5), ("2", 1)].map(|(job, times)| (job.to_owned(), times));
    assert_eq!(times, expected);
    let left: usize = cmd("XLEN").arg("queue").query(&mut redis).unwrap();
    assert_eq!(left, 0, "entries stay in the stream");
}

/// A job that is no text runs with its bytes, and a job without a line is set aside with all its
/// fields.
#[test]
fn no_byte_of_a_job_is_lost() {
    let Some((_server, client)) = redis_server() else {
        return;
    };
    let mut redis = client.get_connection().unwrap();
    let bytes: &[u8] = b"\xff\xfe";
    let mut entry = cmd("XADD");
    entry.arg(&["queue", "*", "line"]).arg(bytes);
    entry.exec(&mut redis).unwrap();
    let mut entry = cmd("XADD");
    entry.arg(&["queue", "*", "other"]).arg(bytes);
    entry.exec(&mut redis).unwrap();
    let done = directory("jobs-bytes").join("done");
    let script = format!("printf %s \"$1\" >> {}", done.display());
    let _worker = start(&client, "1", &["sh", "-c", &script, "job"]);
    await_that("it has run", || fs::read(&done).is_ok_and(|it| it == bytes));
    let mut set_aside = || -> StreamRangeReply {
        let range = cmd("XRANGE")
            .arg(&["queue:failed", "-", "+"])
            .query(&mut redis);
        range.unwrap()
    };
    await_that("one is set aside", || set_aside().ids.len() == 1);
    let kept = set_aside().ids.remove(0);
    assert_eq!(kept.get::<Vec<u8>>("other").as_deref(), Some(bytes));
    assert!(kept.get::<String>("jobs:id").is_some());
}

/// A command that is not there fails at once, and no job with it.
#[test]
fn a_missing_command_fails_no_job() {
    let Some((_server, client)) = redis_server() else {
        return;
    };
    let mut redis = client.get_connection().unwrap();
    add(&mut redis, 1);
    let ended = start(&client, "0.1", &["no-such-command"]).end();
    assert_eq!(ended.status.code(), Some(1));
    let left: usize = cmd("XLEN").arg("queue").query(&mut redis).unwrap();
    assert_eq!(left, 1);
}

/// A worker ends at once if the stream has the name of another value. Its help is for people.
#[test]
fn a_worker_that_does_not_fit_ends() {
    let Some((_server, client)) = redis_server() else {
        return;
    };
    let mut redis = client.get_connection().unwrap();
    cmd("SET")
        .arg(&["queue", "no stream"])
        .exec(&mut redis)
        .unwrap();
    let ended = start(&client, "0.1", &["true"]).end();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    cmd("DEL").arg("queue").exec(&mut redis).unwrap();
    cmd("SET")
        .arg(&["queue:failed", "no stream"])
        .exec(&mut redis)
        .unwrap();
    let ended = start(&client, "0.1", &["true"]).end();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let endless = start(&client, "1e10", &["true"]).end();
    assert_eq!(endless.status.code(), Some(2), "{endless:?}");
    let mut help = Command::new(env!("CARGO_BIN_EXE_jobs"));
    let help = help.arg("--help").output().unwrap();
    assert!(help.status.success());
    assert!(
        String::from_utf8(help.stdout)
            .unwrap()
            .contains("Seconds after which")
    );
}

/// A job that cannot be set aside stays in its stream.
#[test]
fn a_job_that_cannot_be_set_aside_stays() {
    let Some((_server, client)) = redis_server() else {
        return;
    };
    let mut redis = client.get_connection().unwrap();
    let done = directory("jobs-stays").join("done");
    let script = format!("echo $1 >> {}; false", done.display());
    add(&mut redis, 1);
    let worker = start(&client, "1", &["sh", "-c", &script, "job"]);
    // Before that the worker would not have begun.
    await_that("it has begun", || times(&done).len() == 1);
    cmd("SET")
        .arg(&["queue:failed", "no stream"])
        .exec(&mut redis)
        .unwrap();
    await_that("it has failed often", || times(&done).get("0") >= Some(&6));
    worker.terminate();
    worker.end();
    let left: usize = cmd("XLEN").arg("queue").query(&mut redis).unwrap();
    assert_eq!(left, 1);
}

/// A job that ends after the server and after SIGTERM cannot be acknowledged: the worker says so by
/// its exit code.
#[test]
fn a_job_that_is_not_acknowledged_fails_its_worker() {
    let Some((server, client)) = redis_server() else {
        return;
    };
    let mut redis = client.get_connection().unwrap();
    add(&mut redis, 1);
    let done = directory("jobs-unacknowledged").join("done");
    let script = format!("echo $1 >> {}; sleep 3", done.display());
    let worker = start(&client, "60", &["sh", "-c", &script, "job"]);
    await_that("it runs", || times(&done).len() == 1);
    worker.terminate();
    drop(server);
    assert_eq!(worker.end().status.code(), Some(1));
}

/// So it does if it has looked for other jobs in vain between the two.
#[test]
fn a_job_that_is_not_acknowledged_is_not_forgotten() {
    let Some((server, client)) = redis_server() else {
        return;
    };
    let mut redis = client.get_connection().unwrap();
    add(&mut redis, AT_ONCE);
    let place = directory("jobs-unforgotten");
    let [done, go, log] = ["done", "go", "log"].map(|name| place.join(name));
    // It ends in any case, also after a test that fails.
    let script = format!(
        "echo $1 >> {}; for n in $(seq 600); do test -e {} && break; sleep 0.1; done",
        done.display(),
        go.display()
    );
    let mut command = worker(&client, "60", &["sh", "-c", &script, "job"]);
    let worker = Program::start(command.stderr(fs::File::create(&log).unwrap()));
    await_that("all run", || times(&done).len() == AT_ONCE);
    drop(server);
    fs::write(&go, "").unwrap();
    // A line for each job, then one for each look for another one.
    await_that("all have looked", || {
        let lines = fs::read_to_string(&log).unwrap();
        lines.matches("the stream queue at").count() >= 3 * AT_ONCE
    });
    worker.terminate();
    assert_eq!(worker.end().status.code(), Some(1));
}

fn add(redis: &mut Connection, jobs: usize) {
    for job in 0..jobs {
        let added = cmd("XADD")
            .arg(&["queue", "*", "line"])
            .arg(job)
            .exec(redis);
        added.unwrap();
    }
}

/// Starts a worker that claims jobs after `claim` seconds.
fn start(client: &Client, claim: &str, command: &[&str]) -> Program {
    Program::start(&mut worker(client, claim, command))
}

/// Returns the command that [`start`] runs.
fn worker(client: &Client, claim: &str, command: &[&str]) -> Command {
    let redis::ConnectionAddr::Tcp(host, port) = client.get_connection_info().addr()
    else {
        panic!("a server on TCP");
    };
    let mut worker = Command::new(env!("CARGO_BIN_EXE_jobs"));
    worker.args([&format!("{host}:{port}"), "queue", claim]);
    worker.args(command);
    worker
}

/// Returns the number of entries that were delivered and not acknowledged.
fn pending(redis: &mut Connection) -> usize {
    let (count, ..): (usize, redis::Value, redis::Value, redis::Value) = cmd("XPENDING")
        .arg(&["queue", "jobs"])
        .query(redis)
        .unwrap();
    count
}

/// Returns the number of workers that have asked for an entry.
fn consumers(redis: &mut Connection) -> usize {
    let listed = cmd("XINFO")
        .arg(&["CONSUMERS", "queue", "jobs"])
        .query(redis);
    // The group does not exist before the first worker.
    listed.map_or(0, |all: Vec<redis::Value>| all.len())
}

/// Returns how often each job has begun.
fn times(done: &Path) -> BTreeMap<String, usize> {
    let mut times = BTreeMap::new();
    // The file does not exist before the first job.
    let lines = fs::read_to_string(done).unwrap_or_default();
    for line in lines.lines() {
        *times.entry(line.to_owned()).or_default() += 1;
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

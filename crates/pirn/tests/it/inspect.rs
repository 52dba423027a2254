//! Answers of a runtime on its socket: with the content of a report, to its own user, until the
//! runtime ends.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::ops::Deref;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pirn::diag::State;
use pirn::sync::{Event, Mutex, Semaphore};
use pirn::{Runtime, channel, spawn};
use serde_json::Value;

use crate::util::{Directory, LONG, compute_until, eventually};

const HOUR: Duration = Duration::from_secs(3600);

/// Returns everything that is sent in answer to `request`.
pub(crate) fn raw(path: &Path, request: &[u8]) -> io::Result<String> {
    let mut socket = UnixStream::connect(path)?;
    socket.set_read_timeout(Some(LONG))?;
    // A rejected client may not even be able to send.
    let _ = socket.write_all(request);
    let mut text = String::new();
    match socket.read_to_string(&mut text) {
        // The end of a connection with unread data.
        Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(text),
        read => read.map(|_| text),
    }
}

/// Returns the lines of the answer to `request`, which is complete.
#[track_caller]
pub(crate) fn ask(path: &Path, request: &str) -> Vec<Value> {
    let text = raw(path, format!("{request}\n").as_bytes()).expect("an answer");
    let parse = |line: &str| serde_json::from_str(line).expect(line);
    let lines: Vec<Value> = text.lines().map(parse).collect();
    let last = lines.last().map(|line| line["kind"].clone());
    assert!(
        [Some("end".into()), Some("error".into())].contains(&last),
        "{text}"
    );
    lines
}

/// Like [`ask`], once every worker has answered in time, and to the end.
#[track_caller]
pub(crate) fn ask_all(path: &Path, request: &str) -> Vec<Value> {
    let mut lines = Vec::new();
    eventually("all answer", || {
        lines = ask(path, request);
        let workers = of_kind(&lines, "worker");
        workers.iter().all(|worker| {
            let whole =
                worker["left_out_why"] != "late" && worker["left_out_why"] != "busy";
            worker["answered"] == true && whole || worker["state"] == "gone"
        })
    });
    lines
}

/// Returns the lines of one kind.
pub(crate) fn of_kind(lines: &[Value], kind: &str) -> Vec<Value> {
    let lines = lines.iter().filter(|line| line["kind"] == kind);
    lines.cloned().collect()
}

pub(crate) fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

type Doing = (String, Option<String>);

/// Returns how many fibers are in which state, by the library's own report.
fn reported(runtime: &Runtime) -> BTreeMap<Doing, u64> {
    let mut counts = BTreeMap::new();
    for fiber in runtime.fibers() {
        let state = match fiber.state {
            State::Running => "running",
            State::Runnable => "ready",
            State::Parked => "parked",
            other => panic!("{other:?} is new"),
        };
        let reason = fiber.reason.map(|reason| format!("{reason:?}"));
        *counts.entry((state.to_owned(), reason)).or_default() += 1;
    }
    counts
}

/// The same by the tally, and by the fibers themselves.
fn counted(lines: &[Value]) -> [BTreeMap<Doing, u64>; 2] {
    let doing = |line: &Value| {
        let state = text(&line["state"]).expect("a state");
        (state, text(&line["reason"]))
    };
    let mut tallied = BTreeMap::new();
    for line in of_kind(lines, "tally") {
        let fibers = line["fibers"].as_u64().expect("a number");
        *tallied.entry(doing(&line)).or_default() += fibers;
    }
    let mut listed = BTreeMap::new();
    for line in of_kind(lines, "fiber") {
        *listed.entry(doing(&line)).or_default() += 1;
    }
    [tallied, listed]
}

/// A runtime that interrupts its fibers at its end, also when a test has failed.
pub(crate) struct Ends(pub(crate) Option<Runtime>);

impl Ends {
    /// Shuts down, within a limit.
    pub(crate) fn now(mut self) {
        let runtime = self.0.take().expect("ends once");
        runtime.shutdown(LONG).expect("all are interrupted");
    }
}

impl Deref for Ends {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        self.0.as_ref().expect("has not ended")
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.take().map(|runtime| runtime.shutdown(LONG));
    }
}

/// Starts `n` fibers that wait, for six different reasons.
pub(crate) fn crowd(runtime: &Runtime, n: usize) {
    let (tx, rx) = channel::bounded::<u8>(0);
    let mutex = Arc::new(Mutex::new(()));
    let semaphore = Arc::new(Semaphore::new(0));
    let event = Arc::new(Event::manual());
    let theirs = Arc::clone(&mutex);
    let holder = runtime.spawn(move || {
        let _guard = theirs.lock();
        let _ = spawn::park_interruptible();
    });
    eventually("it has the mutex", || mutex.try_lock().is_none());
    drop(holder);
    for i in 1..n {
        let (tx, rx) = (tx.clone(), rx.clone());
        let (mutex, semaphore) = (Arc::clone(&mutex), Arc::clone(&semaphore));
        let event = Arc::clone(&event);
        runtime.enter(|| {
            // Such names must not break the lines.
            let name = format!("fiber\n\u{1b}[31m \"{i}\\\" 纤程");
            let builder = spawn::Builder::new().name(name);
            let spawned = builder.spawn(move || match i % 6 {
                0 => drop(rx.recv()),
                1 => drop(mutex.lock_interruptible()),
                2 => drop(semaphore.acquire(1)),
                3 => drop(event.wait()),
                4 => drop(pirn::sleep(HOUR)),
                // Keeps the other receivers waiting.
                _ => drop((tx, spawn::park_interruptible())),
            });
            drop(spawned.expect("a fiber"));
        });
    }
    eventually("all wait", || {
        let fibers = runtime.fibers();
        let parked = fibers.iter().filter(|fiber| fiber.state == State::Parked);
        parked.count() == n
    });
}

/// A thousand parked fibers: a client counts as many of each kind as a report, with the same
/// description of each.
// Proves: P15.
#[test]
fn a_snapshot_has_what_a_report_has() {
    // A description takes milliseconds under ThreadSanitizer.
    const FIBERS: usize = if cfg!(pirn_tsan) { 100 } else { 1_000 };
    let directory = Directory::new();
    for workers in [1, 2, 4, 8] {
        let path = directory.at("socket");
        let builder = Runtime::builder().name("looked-at").workers(workers);
        let runtime = Ends(Some(builder.inspect(&path).build().unwrap()));
        crowd(&runtime, FIBERS);
        let mut counts = BTreeMap::new();
        eventually("all workers answer", || {
            counts = reported(&runtime);
            counts.values().sum::<u64>() == FIBERS as u64
        });
        assert_eq!(counts.len(), 6, "{counts:?}");
        let lines = ask_all(&path, "snapshot");
        assert_eq!(counted(&lines), [counts.clone(), counts.clone()]);

        let head = &lines[0];
        assert_eq!(head["kind"], "runtime");
        assert_eq!(head["version"], 1);
        assert_eq!(head["name"], "looked-at");
        assert_eq!(head["pid"], std::process::id());
        assert_eq!(head["workers"], workers);
        let uptime = Duration::from_nanos(head["uptime_ns"].as_u64().unwrap());
        assert!(uptime > Duration::ZERO && uptime < 10 * LONG, "{uptime:?}");
        assert_eq!(head["counters"]["spawned"], FIBERS);
        assert_eq!(head["counters"]["started"], FIBERS);
        assert_eq!(head["pressure"], 0);
        let stacks = runtime.stack_use();
        assert_eq!(head["stack_size"], stacks.size);
        assert!(head["stacks"].as_u64().unwrap() >= FIBERS as u64);
        // Later ones may be deeper.
        let touched = head["stack_touched"].as_u64().unwrap() as usize;
        assert!((1..=stacks.touched).contains(&touched), "{stacks:?}");

        let told = of_kind(&lines, "worker");
        assert!(told.len() >= workers);
        let sum = |field: &str| -> u64 {
            told.iter()
                .map(|worker| worker[field].as_u64().unwrap())
                .sum()
        };
        assert_eq!(
            (sum("started"), sum("ready"), sum("fresh")),
            (FIBERS as u64, 0, 0)
        );
        assert_eq!(of_kind(&lines, "scale").len(), 12);

        let mut fibers = of_kind(&lines, "fiber");
        let id = |line: &Value| line["id"].as_str().unwrap().parse::<u64>().unwrap();
        fibers.sort_by_key(id);
        let mut reports = Vec::new();
        eventually("all workers answer", || {
            reports = runtime.fibers();
            reports.len() == FIBERS
        });
        reports.sort_by_key(|fiber| fiber.id);
        for (line, fiber) in fibers.iter().zip(&reports) {
            assert_eq!(text(&line["id"]), Some(fiber.id.to_string()));
            assert_eq!(text(&line["name"]), fiber.name);
            assert_eq!(line["worker"], fiber.worker);
            assert_eq!(line["limited"], fiber.deadline.is_some());
            let place =
                |at: Option<&std::panic::Location<'_>>| at.map(|it| it.to_string());
            assert_eq!(text(&line["spawned_at"]), place(Some(fiber.spawned_at)));
            assert_eq!(text(&line["waits_at"]), place(fiber.waits_at));
            let object = fiber.waits_for.as_ref().map(ToString::to_string);
            // Two workers that describe one object at once may contend.
            let busy = |it: &Option<String>| {
                it.as_ref()
                    .is_some_and(|it| it.starts_with("something busy"))
            };
            let told = text(&line["object"]);
            assert!(told == object || busy(&told) || busy(&object), "{line}");
            // The report is the later one.
            let waited = u128::from(line["waited_ns"].as_u64().unwrap());
            assert!((1..=fiber.since.as_nanos()).contains(&waited), "{line}");
            assert_eq!(line["stack_size"], fiber.stack_size);
            assert_eq!(line["stack_used"], fiber.stack_used);
            assert!(line.get("frames").is_none());
        }

        let few = ask_all(&path, "snapshot 10");
        let [tallied, listed] = counted(&few);
        assert_eq!(tallied, counts, "all are counted");
        let listed: u64 = listed.values().sum();
        let workers = of_kind(&few, "worker").len() as u64;
        assert!(listed <= 10 * workers, "{listed} are told");
        assert!(listed >= 10, "{listed} are told");
        runtime.now();
    }
}

#[inline(never)]
fn waits_deep_down(depth: u32) {
    if depth > 0 {
        return waits_deep_down(std::hint::black_box(depth) - 1);
    }
    let _ = spawn::park_interruptible();
}

/// One fiber is described with its frames, where a report has them; the answer for an unknown
/// one is an error with that reason.
// Proves: P15.
#[test]
fn one_fiber_is_described() {
    let directory = Directory::new();
    let path = directory.at("socket");
    let runtime = Runtime::builder()
        .workers(2)
        .inspect(&path)
        .build()
        .unwrap();
    let fiber = runtime.spawn(|| waits_deep_down(3));
    eventually("it waits", || {
        runtime
            .fibers()
            .iter()
            .any(|fiber| fiber.state == State::Parked)
    });
    let id = fiber.fiber().id();
    let mut lines = Vec::new();
    eventually("its worker answers", || {
        lines = ask(&path, &format!("fiber {id}"));
        lines.len() == 2
    });
    assert_eq!(lines[0]["kind"], "fiber");
    assert_eq!(text(&lines[0]["id"]), Some(id.to_string()));
    assert_eq!(lines[0]["reason"], "Park");
    let touched = lines[0]["stack_touched"].as_u64().expect("a number");
    assert!(touched >= lines[0]["stack_used"].as_u64().expect("a number"));
    let frames = lines[0]["frames"].as_array().expect("a list");
    let mut reports = Vec::new();
    eventually("its worker answers", || {
        reports = runtime.fibers();
        reports.len() == 1
    });
    if reports[0].backtrace.is_some() {
        let deep = |frame: &&Value| {
            frame
                .as_str()
                .is_some_and(|it| it.contains("waits_deep_down"))
        };
        assert!(frames.iter().any(|frame| deep(&frame)), "{frames:?}");
    }
    let gone = ask(&path, "fiber 4294967295");
    assert_eq!(gone.len(), 1);
    assert_eq!(gone[0]["kind"], "error");
    assert_eq!(gone[0]["why"], "fiber");
    assert!(
        text(&gone[0]["message"])
            .unwrap()
            .contains("no fiber 4294967295")
    );
    fiber.cancel();
    fiber.join().unwrap();
}

/// A computing fiber is listed as the one that its worker runs, and the other fibers wait no
/// longer than for a report.
// Proves: P15.
#[test]
fn a_busy_worker_is_described_from_outside() {
    let directory = Directory::new();
    let path = directory.at("socket");
    let runtime = Runtime::builder()
        .workers(1)
        .inspect(&path)
        .build()
        .unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&stop);
    let fiber = runtime.spawn(move || {
        compute_until("it is told", || theirs.load(Ordering::SeqCst));
    });
    let id = fiber.fiber().id().to_string();
    eventually("it is told", || {
        let lines = ask(&path, "snapshot");
        let workers = of_kind(&lines, "worker");
        let fibers = of_kind(&lines, "fiber");
        let running = text(&workers[0]["running"]) == Some(id.clone());
        let told = fibers.iter().any(|it| text(&it["id"]) == Some(id.clone()));
        // Where fibers may migrate, the worker's answer is not needed.
        let answered = workers[0]["answered"] == cfg!(pirn_free);
        let silent = answered && workers[0]["state"] == "awake";
        running && told && silent && fibers[0]["state"] == "running"
    });
    stop.store(true, Ordering::SeqCst);
    fiber.join().unwrap();
}

/// The answer is immediate though the worker is stuck. It contains the state visible to other
/// threads, with its age.
// Proves: P15.
#[cfg(not(pirn_free))]
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_stuck_worker_is_reported_at_once() {
    let directory = Directory::new();
    let path = directory.at("socket");
    // Detected, and not reported.
    let builder = Runtime::builder().workers(1).slow_fiber(Some(LONG));
    let runtime = builder.inspect(&path).build().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let (tx, rx) = channel::bounded::<u8>(0);
    let rx = Arc::new(rx);
    let waiting: Vec<_> = (0..5)
        .map(|_| {
            let rx = Arc::clone(&rx);
            runtime.spawn(move || rx.recv())
        })
        .collect();
    let others = Arc::clone(&stop);
    let ready = runtime.spawn(move || {
        while !others.load(Ordering::SeqCst) {
            pirn::yield_now();
        }
    });
    eventually("they wait", || runtime.metrics().total.fiber_parks >= 5);
    let theirs = Arc::clone(&stop);
    let stuck = runtime.spawn(move || {
        while !theirs.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    let id = stuck.fiber().id().to_string();
    eventually("it is stuck", || {
        let worker = &of_kind(&ask(&path, "snapshot"), "worker")[0];
        text(&worker["running"]) == Some(id.clone())
            && worker["age_ns"]
                .as_u64()
                .is_some_and(|age| age > 200_000_000)
    });
    for _ in 0..20 {
        let start = Instant::now();
        let lines = ask(&path, "snapshot");
        let took = start.elapsed();
        assert!(took < Duration::from_millis(100), "{took:?}");
        let worker = &of_kind(&lines, "worker")[0];
        assert_eq!(worker["answered"], false, "{worker}");
        assert_eq!(worker["started"], 7, "{worker}");
        assert_eq!(worker["ready"], 1, "{worker}");
        let [tallied, _] = counted(&lines);
        let doing = |state: &str| tallied[&(state.to_owned(), None)];
        assert_eq!(
            [doing("running"), doing("ready"), doing("parked")],
            [1, 1, 5]
        );
    }
    stop.store(true, Ordering::SeqCst);
    drop(tx);
    stuck.join().unwrap();
    ready.join().unwrap();
    for fiber in waiting {
        assert!(fiber.join().unwrap().is_err());
    }
}

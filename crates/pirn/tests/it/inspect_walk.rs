//! Snapshots of many fibers: the delay of other fibers is bounded, no fiber is missed or listed
//! twice, and omissions are marked. Idle clients do not delay active ones.

use std::collections::BTreeSet;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pirn::runtime::Builder;
use pirn::{Runtime, channel, spawn};
use serde_json::Value;

use crate::inspect::{Ends, ask, ask_all, of_kind};
use crate::util::{Directory, LONG, eventually, scaled};

/// Starts `n` fibers that wait until the sender is dropped.
fn waiters(runtime: &Runtime, n: usize) -> channel::Sender<u8> {
    // The frames of sanitizers are larger.
    let sanitized = cfg!(any(pirn_asan, pirn_tsan));
    waiters_on(runtime, n, if sanitized { 256 << 10 } else { 32 << 10 })
}

/// The same, on stacks of `size` bytes.
pub(crate) fn waiters_on(
    runtime: &Runtime,
    n: usize,
    size: usize,
) -> channel::Sender<u8> {
    let (tx, rx) = channel::bounded::<u8>(0);
    runtime.enter(|| {
        for _ in 0..n {
            let rx = rx.clone();
            let builder = spawn::Builder::new().stack_size(size);
            let wait = move || assert!(rx.recv().is_err());
            drop(builder.spawn(wait).expect("a fiber"));
        }
    });
    let n = n as u64;
    eventually("all wait", || runtime.metrics().total.fiber_parks >= n);
    tx
}

fn number(line: &Value, field: &str) -> u64 {
    line[field].as_u64().unwrap_or(0)
}

/// A snapshot of all of many fibers delays the others on their worker by a fraction of its own
/// time.
// Proves: P15.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_snapshot_delays_no_fiber_for_long() {
    const TICK: Duration = Duration::from_millis(5);
    let directory = Directory::new();
    let path = directory.at("socket");
    let build = Runtime::builder().workers(1).inspect(&path).build();
    let runtime = Ends(Some(build.unwrap()));
    let fibers = scaled(20_000);
    let tx = waiters(&runtime, fibers);
    let (stop, ticks) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let (stopped, counted) = (Arc::clone(&stop), Arc::clone(&ticks));
    let sleeper = runtime.spawn(move || {
        let mut latest = Duration::ZERO;
        while !stopped.load(Ordering::SeqCst) {
            let start = Instant::now();
            pirn::sleep(TICK).expect("not interrupted");
            latest = latest.max(start.elapsed());
            counted.fetch_add(1, Ordering::SeqCst);
        }
        latest
    });
    eventually("it sleeps", || ticks.load(Ordering::SeqCst) > 0);
    let (start, before) = (Instant::now(), ticks.load(Ordering::SeqCst));
    let lines = ask(&path, "snapshot");
    let (took, ticked) = (start.elapsed(), ticks.load(Ordering::SeqCst) - before);
    stop.store(true, Ordering::SeqCst);
    let latest = sleeper.join().unwrap();
    assert_eq!(of_kind(&lines, "fiber").len(), fibers + 1);
    assert_eq!(lines.last().unwrap()["complete"], true);
    // It ran during the processor time that it had. Without pieces it does not run once.
    let expected = took.as_nanos() / (4 * TICK).as_nanos();
    println!("{took:?} for a snapshot; {ticked} ticks, the latest {latest:?}");
    assert!(
        ticked as u128 >= expected,
        "{ticked} ticks in {took:?}, one of {latest:?}"
    );
    drop(tx);
}

/// Processor time of the calling thread.
#[cfg(target_os = "linux")]
pub(crate) fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a plain call that writes to `time`.
    let done =
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(done, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// P15. Reports on many fibers are complete, and occupy their worker for less than a millisecond of
/// processor time at once. (Under sanitizers a description takes longer than that.)
// Proves: P4.
#[cfg(all(target_os = "linux", not(any(pirn_asan, pirn_tsan))))]
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_reports_of_many_fibers_take_a_worker_for_moments() {
    const FIBERS: usize = 20_000;
    const MOST: Duration = Duration::from_millis(1);
    let directory = Directory::new();
    let path = directory.at("socket");
    let build = Runtime::builder().workers(1).inspect(&path).build();
    let runtime = Ends(Some(build.unwrap()));
    let tx = waiters(&runtime, FIBERS);
    let stop = Arc::new(AtomicBool::new(false));
    let pieces = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (stopped, seen) = (Arc::clone(&stop), Arc::clone(&pieces));
    let ticks = Arc::new(AtomicBool::new(false));
    let ticking = Arc::clone(&ticks);
    let ticker = runtime.spawn(move || {
        ticking.store(true, Ordering::SeqCst);
        let mut last = processor_time();
        while !stopped.load(Ordering::SeqCst) {
            pirn::yield_now();
            let now = processor_time();
            // Anything shorter is no piece.
            if now - last > Duration::from_micros(100) {
                seen.lock().unwrap().push(now - last);
            }
            last = now;
        }
    });
    eventually("it ticks", || ticks.load(Ordering::SeqCst));
    let check = |what: &str, report: &dyn Fn() -> usize| {
        pieces.lock().unwrap().clear();
        assert_eq!(report(), FIBERS + 1, "{what}");
        let mut pieces = std::mem::take(&mut *pieces.lock().unwrap());
        pieces.sort_unstable();
        let count = pieces.len();
        let middle = pieces.into_iter().nth(count / 2);
        println!("{what}: {count} pieces, half of them below {middle:?}");
        // Interruptions by the system count too, so some are longer.
        assert!(
            middle.is_none_or(|middle| middle < MOST),
            "{what}: {middle:?}"
        );
    };
    check("a snapshot", &|| {
        of_kind(&ask_all(&path, "snapshot"), "fiber").len()
    });
    check("a list", &|| runtime.fibers().len());
    check("a dump", &|| {
        let mut text = Vec::new();
        runtime.dump(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        text.lines()
            .filter(|line| line.starts_with("    fiber "))
            .count()
    });
    stop.store(true, Ordering::SeqCst);
    ticker.join().unwrap();
    drop(tx);
}

/// A list of many fibers has backtraces of some, as a list of few has.
#[cfg(all(target_arch = "x86_64", not(any(pirn_asan, pirn_tsan))))]
#[test]
fn some_of_many_fibers_have_backtraces() {
    for fibers in [100, 1_000] {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        // Smaller stacks do not suffice for an unwinder.
        let tx = waiters_on(&runtime, fibers, 64 << 10);
        let list = runtime.fibers();
        assert_eq!(list.len(), fibers);
        let told = list.iter().filter(|fiber| fiber.backtrace.is_some());
        assert_eq!(told.count(), fibers.min(256));
        drop(tx);
    }
}

/// Threads that request all fibers while the socket serves requests, too, get each of them once.
// Proves: P4.
#[test]
fn reports_at_the_same_time_are_complete() {
    const FIBERS: usize = scaled(2_000);
    let directory = Directory::new();
    let path = directory.at("socket");
    let build = Runtime::builder().workers(2).inspect(&path).build();
    let runtime = Ends(Some(build.unwrap()));
    let tx = waiters(&runtime, FIBERS);
    std::thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                for _ in 0..5 {
                    let mut ids: Vec<_> =
                        runtime.fibers().iter().map(|it| it.id).collect();
                    let all = ids.len();
                    ids.sort_unstable();
                    ids.dedup();
                    assert_eq!(ids.len(), all, "a fiber is listed twice");
                    // On a busy machine a worker may be late.
                    assert!(all <= FIBERS);
                }
            });
        }
        s.spawn(|| {
            for _ in 0..5 {
                let lines = ask_all(&path, "snapshot");
                assert_eq!(of_kind(&lines, "fiber").len(), FIBERS);
            }
        });
    });
    drop(tx);
}

/// Fibers that stay alive are listed once each, while others start and end.
fn amid_a_storm(builder: Builder, path: &Path) {
    const LASTING: usize = 1_000;
    let runtime = Ends(Some(builder.inspect(path).build().unwrap()));
    let tx = waiters(&runtime, LASTING);
    let id = |line: &Value| line["id"].as_str().expect("a number").to_owned();
    let mut ids = BTreeSet::new();
    // A worker that gets no processor for 50 ms is omitted from a list.
    eventually("all are listed", || {
        let fibers = runtime.fibers();
        ids.extend(fibers.iter().map(|fiber| fiber.id.to_string()));
        ids.len() == LASTING
    });
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let storm = runtime.spawn(move || {
        while !stopped.load(Ordering::SeqCst) {
            pirn::scope(|s| {
                for _ in 0..200 {
                    s.spawn(pirn::yield_now);
                }
            });
        }
    });
    for _ in 0..scaled(8) {
        let lines = ask_all(path, "snapshot");
        let told: Vec<String> = of_kind(&lines, "fiber").iter().map(id).collect();
        let once: BTreeSet<String> = told.iter().cloned().collect();
        assert_eq!(once.len(), told.len(), "one is told twice");
        assert!(ids.is_subset(&once), "one is missing");
        let tallied: u64 = of_kind(&lines, "tally")
            .iter()
            .map(|line| number(line, "fibers"))
            .sum();
        assert_eq!(tallied, told.len() as u64);
    }
    stop.store(true, Ordering::SeqCst);
    storm.join().unwrap();
    drop(tx);
}

/// Each fiber that lives throughout a snapshot is listed once, also where fibers migrate.
// Proves: P15.
#[test]
#[cfg_attr(pirn_tsan, ignore = "workers are too slow there to answer in time")]
fn each_fiber_is_described_once() {
    let directory = Directory::new();
    let path = directory.at("socket");
    for workers in [1, 2, 4] {
        amid_a_storm(Runtime::builder().workers(workers), &path);
        let free = Runtime::builder().workers(workers);
        // SAFETY: no code here keeps a reference to a thread-local over a wait.
        amid_a_storm(unsafe { free.free_migration() }, &path);
    }
}

/// P15. Where fibers may migrate, the thread of a worker may end before the fibers that have
/// started on it. They are listed all the same.
#[test]
fn fibers_of_a_worker_without_a_thread_are_listed() {
    const FIBERS: usize = 600;
    let directory = Directory::new();
    let path = directory.at("socket");
    let builder = Runtime::builder().workers(2).max_threads(2).inspect(&path);
    // SAFETY: no code here keeps a reference to a thread-local over a wait.
    let runtime = Ends(Some(unsafe { builder.free_migration() }.build().unwrap()));
    let tx = waiters(&runtime, FIBERS);
    // One on each worker: they run at the same time.
    let both = Arc::new(AtomicUsize::new(0));
    let (quiet, never) = channel::bounded::<u8>(0);
    let pair = [(); 2].map(|()| {
        let (both, never) = (Arc::clone(&both), never.clone());
        runtime.spawn(move || {
            both.fetch_add(1, Ordering::SeqCst);
            eventually("both run", || both.load(Ordering::SeqCst) == 2);
            assert!(never.recv().is_err());
        })
    });
    eventually("both wait", || {
        runtime.metrics().total.fiber_parks >= FIBERS as u64 + 2
    });
    runtime.set_workers(std::num::NonZeroUsize::MIN);
    eventually("a thread has ended", || {
        let lines = ask_all(&path, "snapshot 0");
        let workers = of_kind(&lines, "worker");
        workers
            .iter()
            .any(|worker| worker["state"] == "gone" && number(worker, "started") > 0)
    });
    let lines = ask_all(&path, "snapshot");
    assert_eq!(of_kind(&lines, "fiber").len(), FIBERS + 2);
    assert_eq!(lines.last().unwrap()["complete"], true);
    assert_eq!(runtime.fibers().len(), FIBERS + 2);
    drop((tx, quiet));
    pair.into_iter().for_each(|fiber| fiber.join().unwrap());
}

/// Omissions of a snapshot are counted and marked, with the reason.
// Proves: P15.
#[test]
fn what_is_left_out_is_marked() {
    let directory = Directory::new();
    let path = directory.at("socket");
    let build = Runtime::builder().workers(1).inspect(&path).build();
    let runtime = Ends(Some(build.unwrap()));
    let tx = waiters(&runtime, 500);
    let whole = ask_all(&path, "snapshot 500");
    assert_eq!(whole.last().unwrap()["complete"], true);
    assert!(whole.iter().all(|line| line.get("left_out").is_none()));
    for most in [0, 10, 499] {
        let lines = ask_all(&path, &format!("snapshot {most}"));
        assert_eq!(of_kind(&lines, "fiber").len() as u64, most);
        let end = lines.last().unwrap();
        assert_eq!(end["complete"], false);
        assert_eq!(number(end, "left_out"), 500 - most);
        let workers = of_kind(&lines, "worker");
        let sum =
            |field: &str| workers.iter().map(|line| number(line, field)).sum::<u64>();
        assert_eq!([sum("described"), sum("left_out")], [most, 500 - most]);
        let cut = |line: &&Value| line.get("left_out").is_some();
        let cut: Vec<_> = workers.iter().filter(cut).collect();
        assert!(
            cut.iter().all(|line| line["left_out_why"] == "limit"),
            "{cut:?}"
        );
        let tallied: u64 = of_kind(&lines, "tally")
            .iter()
            .map(|line| number(line, "fibers"))
            .sum();
        assert_eq!(tallied, 500);
    }
    drop(tx);
}

/// Any number of clients that connect and send nothing delay none that ask.
// Proves: P15.
#[test]
fn silent_clients_hold_up_no_other() {
    let directory = Directory::new();
    let path = directory.at("socket");
    let build = Runtime::builder().workers(1).inspect(&path).build();
    let runtime = Ends(Some(build.unwrap()));
    for silent in [50, 200] {
        let connect = || UnixStream::connect(&path).expect("it listens");
        let clients: Vec<UnixStream> = (0..silent).map(|_| connect()).collect();
        let start = Instant::now();
        assert_eq!(ask(&path, "snapshot")[0]["kind"], "runtime");
        let took = start.elapsed();
        // One after the other, each for a second.
        assert!(
            took < Duration::from_secs(silent / 5),
            "{took:?} behind {silent}"
        );
        drop(clients);
    }
    let start = Instant::now();
    runtime.now();
    assert!(start.elapsed() < LONG);
}

//! Blocked threads, and neighbors that compute: which fibers still start, when, which keep their
//! beat, and which are reported. The measurements are printed (`cargo xtask stress --verbose`).
//!
//! Each workload is given a [`Builder`], so that it can run in every mode of a runtime.

use std::env;
use std::fmt;
use std::io::{PipeReader, Read};
use std::process::exit;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn::channel::bounded;
use pirn::runtime::Builder;
use pirn::time::{interval, sleep, timeout};

use crate::util::{LONG, apart, eventually};

/// Durations of some of a thousand: the median, the 99th percentile, the longest.
#[derive(Debug)]
struct Took {
    median: Duration,
    most: Duration,
    longest: Duration,
}

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (median, most) = (self.median, self.most);
        write!(f, "p50 {median:?}, p99 {most:?}, max {:?}", self.longest)
    }
}

fn took(mut all: Vec<Duration>) -> Took {
    all.sort_unstable();
    let at = |percent: usize| all[(all.len() - 1) * percent / 100];
    Took {
        median: at(50),
        most: at(99),
        longest: at(100),
    }
}

/// A runtime's threads, counted.
#[derive(Clone, Default)]
struct Threads(Arc<AtomicUsize>);

impl Threads {
    fn of(&self, builder: Builder) -> Builder {
        let (started, stopped) = (Arc::clone(&self.0), Arc::clone(&self.0));
        builder
            .on_thread_start(move || _ = started.fetch_add(1, Ordering::SeqCst))
            .on_thread_stop(move || _ = stopped.fetch_sub(1, Ordering::SeqCst))
    }

    fn now(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Results of a wave of fibers that block their threads.
#[derive(Debug)]
struct Wave {
    /// How long fibers that were spawned meanwhile took to start.
    fresh: Took,
    /// How many of those were measured.
    measured: usize,
    /// The share of the due beats that fibers settled before had.
    beats: (u64, u64),
    /// How many of the blocked fibers a report named by their line.
    named: usize,
}

const BLOCKED: usize = 100;
const ASLEEP: Duration = Duration::from_secs(2);
const BEAT: Duration = Duration::from_millis(10);

/// A hundred fibers block their threads for two seconds, all at once; one fiber each four
/// milliseconds is spawned beside them.
fn wave(builder: Builder, workers: usize) -> Wave {
    let threads = Threads::default();
    let runtime = threads.of(builder.workers(workers)).build().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let beats = Arc::new(AtomicU64::new(0));
    let hearts: Vec<_> = (0..workers)
        .map(|_| {
            let (over, beats) = (Arc::clone(&over), Arc::clone(&beats));
            runtime.spawn(move || {
                while !over.load(Ordering::SeqCst) {
                    sleep(BEAT).unwrap();
                    beats.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    eventually("they beat", || {
        beats.load(Ordering::SeqCst) >= workers as u64
    });
    let line = line!() + 2;
    let blocked: Vec<_> = (0..BLOCKED)
        .map(|_| runtime.spawn(|| thread::sleep(ASLEEP)))
        .collect();
    let (start, before) = (Instant::now(), beats.load(Ordering::SeqCst));
    let (tx, rx) = bounded(1_024);
    let mut measured = 0;
    let mut named = 0;
    while start.elapsed() < ASLEEP - Duration::from_millis(100) {
        let (tx, spawned) = (tx.clone(), Instant::now());
        runtime.spawn(move || tx.send(spawned.elapsed()).unwrap());
        measured += 1;
        thread::sleep(Duration::from_millis(4));
        if named == 0 && start.elapsed() > ASLEEP / 2 {
            let told = runtime.fibers();
            named = told.iter().filter(|f| f.spawned_at.line() == line).count();
        }
    }
    let due = start.elapsed().as_millis() / BEAT.as_millis() * workers as u128;
    let had = beats.load(Ordering::SeqCst) - before;
    drop(tx);
    let fresh: Vec<Duration> = rx.iter().collect();
    assert_eq!(fresh.len(), measured, "every one of them starts");
    blocked.into_iter().for_each(|fiber| fiber.join().unwrap());
    over.store(true, Ordering::SeqCst);
    hearts.into_iter().for_each(|fiber| fiber.join().unwrap());
    eventually("the threads go", || threads.now() <= workers);
    assert_eq!(runtime.metrics().total.rescues, 0);
    Wave {
        fresh: took(fresh),
        measured,
        beats: (had, due as u64),
        named,
    }
}

/// E2. A fresh fiber starts soon though a hundred fibers block their threads; a report names
/// those, and the extra threads end after the wave.
// Proves: E12.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn a_wave_of_blocking_fibers() {
    let wave = wave(Runtime::builder(), 16);
    println!(
        "settled: {} fresh fibers started after {}; {} of {} beats; {} named",
        wave.measured, wave.fresh, wave.beats.0, wave.beats.1, wave.named
    );
    assert_eq!(wave.named, BLOCKED);
    assert!(wave.fresh.median <= Duration::from_millis(20), "{wave:?}");
    assert!(wave.fresh.most < LONG / 60, "{wave:?}");
}

/// Results of a heart that should beat thirty times beside fibers that compute.
#[derive(Debug)]
struct Beats {
    /// Beats of a fiber that had settled before the others started.
    settled: u64,
    /// Fibers that a thread spawned for each beat and that ran before the next.
    fresh: u64,
    /// How long those took to run.
    took: Took,
}

const HOGS: usize = 15;
const PULSE: Duration = Duration::from_millis(100);
const PULSES: u32 = 30;

/// Fifteen fibers compute for three seconds on four workers; `polite` ones yield each
/// millisecond.
fn noise(builder: Builder, polite: bool) -> Beats {
    let runtime = builder.workers(4).build().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let (ended, settled) = (Arc::clone(&over), Arc::new(AtomicU64::new(0)));
    let count = Arc::clone(&settled);
    let heart = runtime.spawn(move || {
        let mut ticks = interval(PULSE).missed(pirn::time::MissedTick::Skip);
        while !ended.load(Ordering::SeqCst) {
            ticks.tick().unwrap();
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    eventually("it beats", || settled.load(Ordering::SeqCst) > 0);
    let hogs: Vec<_> = (0..HOGS)
        .map(|_| {
            let over = Arc::clone(&over);
            runtime.spawn(move || {
                let mut last = Instant::now();
                while !over.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                    if polite && last.elapsed() > Duration::from_millis(1) {
                        pirn::yield_now();
                        last = Instant::now();
                    }
                }
            })
        })
        .collect();
    let mut before = settled.load(Ordering::SeqCst);
    if polite {
        // A worker checks its timers after so many runs, until it has measured how long they are.
        let so_far = before;
        eventually("it beats on", || {
            before = settled.load(Ordering::SeqCst);
            before >= so_far + 2
        });
    }
    let (start, mut fresh) = (Instant::now(), 0);
    let (tx, rx) = bounded(PULSES as usize);
    for pulse in 1..=PULSES {
        let (tx, spawned) = (tx.clone(), Instant::now());
        let beat = runtime.spawn(move || tx.send(spawned.elapsed()).unwrap());
        let next = start + PULSE * pulse;
        thread::sleep(next.saturating_duration_since(Instant::now()));
        fresh += u64::from(beat.is_finished());
    }
    let settled = settled.load(Ordering::SeqCst) - before;
    over.store(true, Ordering::SeqCst);
    hogs.into_iter().for_each(|fiber| fiber.join().unwrap());
    heart.join().unwrap();
    drop(tx);
    let all: Vec<Duration> = rx.iter().collect();
    assert_eq!(all.len(), PULSES as usize);
    Beats {
        settled,
        fresh,
        took: took(all),
    }
}

fn tell(hogs: &str, beats: &Beats) {
    println!(
        "settled, hogs that {hogs}: {} beats of {PULSES} where it had been, {} of fresh \
         fibers, which ran after {}",
        beats.settled, beats.fresh, beats.took
    );
}

/// A beat is kept beside fibers that compute and yield now and then. Beside those that do not,
/// a fresh fiber waits for one of them, and starts in the end.
// Proves: N3.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn noisy_neighbors() {
    tell("do not", &noise(Runtime::builder(), false));
    let polite = noise(Runtime::builder(), true);
    tell("yield", &polite);
    // Other processes may occupy the processors for a while.
    let third = u64::from(PULSES / 3);
    let kept = polite.settled >= third && polite.fresh >= third;
    assert!(kept, "{polite:?}");
}

/// How late a limit around code without interruption points ends it: a thousand of them, a few
/// at a time.
// Proves: N9-X-foreign.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn limits_around_foreign_code() {
    for workers in [1, 2, 4] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        let (_open, silent) = bounded::<u64>(0);
        let (tx, rx) = bounded(1_000);
        runtime.run(|| {
            pirn::scope(|s| {
                for first in 0..20 {
                    let (silent, tx) = (silent.clone(), tx.clone());
                    s.spawn(move || {
                        for i in 0..50_u64 {
                            let limit = 1 + (first * 7 + i * 13) % 20;
                            let limit = Duration::from_millis(limit);
                            let start = Instant::now();
                            // The iterator's `sum` is `std`'s own.
                            let ended = timeout(limit, || silent.iter().sum::<u64>());
                            let late = start.elapsed().checked_sub(limit);
                            assert!(ended.is_err());
                            tx.send(late.expect("none is early")).unwrap();
                        }
                    });
                }
            });
        });
        drop(tx);
        let late = took(rx.iter().collect());
        println!("{workers} workers, a thousand limits, late by {late}");
        assert!(late.most < LONG / 60, "{late:?}");
    }
}

/// Fibers that keep their worker, with the cause and the remedy that a report on them names.
const CULPRITS: [(&str, &str, &str); 4] = [
    ("compute", "it computes", "pirn::compute"),
    ("sleep", "it blocks its thread", "pirn::blocking"),
    ("pipe", "it blocks its thread", "pirn::blocking"),
    ("lock", "it blocks its thread", "pirn::sync"),
];

/// How many of them there are, and on how many workers.
const CROWDS: [(usize, usize); 6] = [(1, 1), (2, 1), (4, 1), (64, 1), (2, 2), (64, 2)];

/// How many stalls there are.
const STALLS: usize = 50;

/// The time within which each is reported.
const SOON: Duration = Duration::from_secs(1);

/// The variable with the kind of the culprits, their number, and that of the workers.
const CASE: &str = "PIRN_TEST_CASE";

/// Each of fifty stalls is reported within a second, with the line that has spawned the culprit,
/// the cause and the remedy. Each has a process of its own: the first report on a spawn line is
/// the complete one.
// Proves: P5.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn alone_fifty_stalls_are_reported() {
    let name = "stalls::alone_fifty_stalls_are_reported";
    let place = format!("stalls.rs:{SPAWN}:");
    for round in 0..STALLS {
        let (kind, cause, remedy) = CULPRITS[round % CULPRITS.len()];
        let (n, workers) = CROWDS[round / CULPRITS.len() % CROWDS.len()];
        let case = format!("{kind} {n} {workers}");
        let Some(ended) = apart(name, &[(CASE, &*case)], stall) else {
            return;
        };
        let said = &ended.stderr;
        assert!(ended.status.success(), "{case}: {said}");
        let mut lines = said.lines();
        let report = lines.find(|line| line.starts_with("pirn: fiber "));
        let report = report.unwrap_or_else(|| panic!("{case}: no report: {said}"));
        assert!(report.contains(&place), "{case}: not {place}: {said}");
        assert!(report.contains(cause), "{case}: not {cause}: {said}");
        let advice = lines.next().unwrap_or_default();
        assert!(advice.contains(remedy), "{case}: no {remedy}: {said}");
    }
}

/// Runs the stall that [`CASE`] names, and ends the process; with an error if the stall is not
/// noticed in time.
fn stall() {
    let case: &'static str = env::var(CASE).unwrap().leak();
    let words: Vec<&'static str> = case.split(' ').collect();
    let [kind, n, workers] = words.try_into().expect("three words");
    let workers = workers.parse::<usize>().unwrap();
    let runtime = Runtime::builder().workers(workers).build().unwrap();
    let naps = Arc::new(AtomicUsize::new(0));
    for _ in 0..3 {
        let naps = Arc::clone(&naps);
        runtime.spawn(move || {
            loop {
                sleep(Duration::from_millis(1)).unwrap();
                naps.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    eventually("they sleep", || naps.load(Ordering::SeqCst) > 30);
    // Held open: no data ever arrives.
    let (pipe, _writer) = std::io::pipe().unwrap();
    let culprit = Culprit {
        kind,
        lock: Arc::default(),
        pipe: Arc::new(pipe),
    };
    if kind == "lock" {
        hold(&runtime, &culprit.lock);
    }
    let start = Instant::now();
    for _ in 0..n.parse::<usize>().unwrap() {
        spawn_culprit(&runtime, culprit.clone());
    }
    while runtime.metrics().slow_fibers == 0 && start.elapsed() < SOON {
        thread::sleep(Duration::from_millis(1));
    }
    let took = start.elapsed();
    eprintln!("noticed, or given up, after {took:?}");
    exit(i32::from(took >= SOON));
}

/// Starts a fiber that holds `lock` while it waits, for as long as the process lives.
fn hold(runtime: &Runtime, lock: &Arc<Mutex<()>>) {
    let (lock, (tx, rx)) = (Arc::clone(lock), mpsc::channel());
    runtime.spawn(move || {
        let _guard = lock.lock();
        tx.send(()).unwrap();
        pirn::park();
    });
    rx.recv().unwrap();
}

/// The line of the spawn below.
const SPAWN: u32 = line!() + 4;

/// Spawns `culprit`, at the line that reports name.
fn spawn_culprit(runtime: &Runtime, culprit: Culprit) {
    runtime.spawn(move || culprit.keep_worker());
}

/// A fiber that keeps its worker.
#[derive(Clone)]
struct Culprit {
    kind: &'static str,
    lock: Arc<Mutex<()>>,
    pipe: Arc<PipeReader>,
}

impl Culprit {
    /// Keeps the calling thread until the process ends.
    fn keep_worker(&self) {
        match self.kind {
            "compute" => loop {
                std::hint::spin_loop();
            },
            "sleep" => thread::sleep(LONG),
            "pipe" => _ = (&*self.pipe).read(&mut [0]).unwrap(),
            "lock" => drop(self.lock.lock()),
            other => panic!("no kind of culprit: {other}"),
        }
    }
}

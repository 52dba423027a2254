//! Pools and servers with fibers that settle before the work arrives: the time of the work, as a
//! multiple of the time of plain threads in the same minute, and the share of each worker.
//!
//! Each kind is measured many times, and each time on a new runtime, which has no history of spawn
//! lines. A measurement that other processes disturb is repeated, and counted. The measurements are
//! printed (`--nocapture`).

use std::collections::HashMap;
use std::env;
use std::fmt;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pirn::channel::{Receiver, Sender, bounded, ordered, unbounded};
use pirn::dispatcher::Dispatcher;
use pirn::net::TcpListener;
use pirn::runtime::Scheduler;
use pirn::scope::TaskGroup;
use pirn::{Runtime, scope, sleep, spawn};

use crate::load::{Arrival, Job, arrive, on_threads};
use crate::others::measure;
use crate::util::shaped;

/// From the spawn of a pool to its first job.
const PAUSE: Duration = Duration::from_millis(20);

/// Times of one kind of program, as multiples of the time of plain threads.
struct Ratios(Vec<f64>, usize);

impl Ratios {
    /// Ratios in any order, and how many were measured again because others disturbed them.
    fn new((mut all, repeated): (Vec<f64>, usize)) -> Ratios {
        all.sort_unstable_by(f64::total_cmp);
        Ratios(all, repeated)
    }

    fn within(&self, bound: f64) -> usize {
        self.0.iter().filter(|ratio| **ratio <= bound).count()
    }

    /// The ratio that `percent` of 100 runs do not exceed.
    fn at(&self, percent: usize) -> f64 {
        self.0[(self.0.len() - 1) * percent / 100]
    }
}

impl fmt::Display for Ratios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (half, most) = (self.at(50), self.at(100));
        write!(f, "p50 {half:.2}, p90 {:.2}, max {most:.2}", self.at(90))?;
        match self.1 {
            0 => Ok(()),
            again => write!(f, " ({again} disturbed)"),
        }
    }
}

/// How the fibers of a pool get their jobs.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
enum Supply {
    Bounded,
    Unbounded,
    Rendezvous,
    Lock,
}

/// A queue of jobs.
enum Jobs {
    Channel(Mutex<Option<Sender<()>>>, Receiver<()>),
    Lock(pirn::sync::Mutex<(usize, bool)>, pirn::sync::Condvar),
}

impl Jobs {
    fn new(supply: Supply) -> Arc<Jobs> {
        let channel = |(tx, rx)| Jobs::Channel(Mutex::new(Some(tx)), rx);
        Arc::new(match supply {
            Supply::Bounded => channel(bounded(16)),
            Supply::Unbounded => channel(unbounded()),
            Supply::Rendezvous => channel(bounded(0)),
            Supply::Lock => Jobs::Lock(Default::default(), Default::default()),
        })
    }

    /// Runs jobs until there are no more.
    fn take(&self, job: Job) {
        match self {
            Jobs::Channel(_, rx) => rx.iter().for_each(|()| job.run()),
            Jobs::Lock(state, changed) => loop {
                let mut jobs = state.lock();
                while jobs.0 == 0 && !jobs.1 {
                    jobs = changed.wait(jobs);
                }
                if jobs.0 == 0 {
                    return;
                }
                jobs.0 -= 1;
                drop(jobs);
                job.run();
            },
        }
    }

    /// Supplies the last `jobs` jobs; returns when that began.
    fn supply(&self, jobs: usize) -> Instant {
        let start = Instant::now();
        match self {
            Jobs::Channel(tx, _) => {
                let tx = tx.lock().unwrap_or_else(PoisonError::into_inner).take();
                let tx = tx.expect("jobs are supplied once");
                (0..jobs).for_each(|_| tx.send(()).unwrap());
            }
            Jobs::Lock(state, changed) => {
                for _ in 0..jobs {
                    state.lock().0 += 1;
                    changed.notify_one();
                }
                state.lock().1 = true;
                changed.notify_all();
            }
        }
        start
    }
}

/// How the fibers of a pool are spawned.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
enum Spawner {
    Fiber,
    Scope,
    Group,
    Dispatcher,
    Thread,
}

/// Returns the time that a settled pool of `fibers` fibers takes for `jobs` jobs.
fn pool(
    runtime: &Runtime,
    (spawner, supply, fibers): (Spawner, Supply, usize),
    (jobs, job): (usize, Job),
) -> Duration {
    let queue = Jobs::new(supply);
    let take = || {
        let queue = Arc::clone(&queue);
        move || queue.take(job)
    };
    let supply = || {
        sleep(PAUSE).unwrap();
        queue.supply(jobs)
    };
    match spawner {
        Spawner::Thread => {
            let all: Vec<_> = (0..fibers).map(|_| runtime.spawn(take())).collect();
            let start = supply();
            all.into_iter().for_each(|fiber| fiber.join().unwrap());
            start.elapsed()
        }
        Spawner::Fiber => runtime.run(|| {
            let all: Vec<_> = (0..fibers).map(|_| spawn(take())).collect();
            let start = supply();
            all.into_iter().for_each(|fiber| fiber.join().unwrap());
            start.elapsed()
        }),
        Spawner::Scope => runtime.run(|| {
            let start = scope(|s| {
                (0..fibers).for_each(|_| drop(s.spawn(take())));
                supply()
            });
            start.elapsed()
        }),
        Spawner::Group => runtime.run(|| {
            let group = TaskGroup::new();
            (0..fibers).for_each(|_| assert!(group.spawn(take()).is_ok()));
            let start = supply();
            group.wait().unwrap();
            start.elapsed()
        }),
        Spawner::Dispatcher => runtime.run(|| {
            let dispatcher = Dispatcher::new(runtime.metrics().workers.len()).unwrap();
            let all: Vec<_> = (0..fibers).map(|_| dispatcher.spawn(take())).collect();
            let start = supply();
            all.into_iter().for_each(|fiber| fiber.join().unwrap());
            start.elapsed()
        }),
    }
}

/// Ratios of `rounds` pools, each on a runtime of its own. The time of threads is measured after
/// each one, on a fifth of the jobs.
fn pools(kind: (Spawner, Supply, usize), workers: usize, rounds: usize) -> Ratios {
    const JOBS: usize = 500;
    const PART: usize = 5;
    let job = Job::of(Duration::from_millis(2));
    let most = workers.min(kind.2);
    Ratios::new(measure(rounds, || {
        let runtime = shaped(workers, Scheduler::WorkStealing);
        let took = pool(&runtime, kind, (JOBS, job));
        let ideal = on_threads(JOBS / PART, most, job) * PART as u32;
        took.as_secs_f64() / ideal.as_secs_f64()
    }))
}

/// Returns true unless `PIRN_ONLY` limits the measurements to others, with its text in their names.
fn is_chosen(kind: &str) -> bool {
    env::var("PIRN_ONLY").map_or(true, |only| kind.contains(&only))
}

/// Measures pools of the kinds, and checks that half of the runs of each, and nine of ten of all,
/// keep to 1.1 times the ideal.
fn measure_pools(kinds: &[(Spawner, Supply)], rounds: usize) {
    let (mut within, mut all, mut slow) = (0, 0, Vec::new());
    for workers in [2, 4, 8] {
        for fibers in [2, 4, 16, 64] {
            for (spawner, supply) in kinds {
                let kind =
                    format!("{spawner:?} {supply:?}, {fibers} fibers, {workers} workers");
                if !is_chosen(&kind) {
                    continue;
                }
                let ratios = pools((*spawner, *supply, fibers), workers, rounds);
                let good = ratios.within(1.1);
                let what = format!("{kind}: {good} of {rounds} within 1.1; {ratios}");
                println!("{what}");
                slow.extend((ratios.at(50) > 1.1).then_some(what));
                within += good;
                all += rounds;
            }
        }
    }
    println!("{within} of {all} within 1.1");
    assert!(slow.is_empty(), "{slow:#?}");
    assert!(within * 10 >= all * 9, "{within} of {all} within 1.1");
}

/// Pools that a fiber spawns, with jobs from any kind of source.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn alone_pools_use_all_processors() {
    let supplies = [
        Supply::Bounded,
        Supply::Unbounded,
        Supply::Rendezvous,
        Supply::Lock,
    ];
    measure_pools(&supplies.map(|supply| (Spawner::Fiber, supply)), 50);
}

/// Pools that are spawned in other ways.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn alone_pools_use_all_processors_however_spawned() {
    let spawners = [
        Spawner::Scope,
        Spawner::Group,
        Spawner::Dispatcher,
        Spawner::Thread,
    ];
    measure_pools(&spawners.map(|spawner| (spawner, Supply::Bounded)), 50);
}

/// Jobs as fibers of an ordered channel.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn alone_ordered_channels_use_all_processors() {
    const JOBS: usize = 100;
    let job = Job::of(Duration::from_millis(2));
    let mut slow = Vec::new();
    for workers in [2, 4, 8] {
        for room in [2, 4, 16, 64] {
            let kind = format!("ordered, room for {room}, {workers} workers");
            if !is_chosen(&kind) {
                continue;
            }
            let ratio = || {
                let runtime = shaped(workers, Scheduler::WorkStealing);
                let (work, results) = ordered(room);
                let start = Instant::now();
                runtime.run(|| {
                    spawn(move || {
                        (0..JOBS).for_each(|_| work.spawn(move || job.run()).unwrap());
                    });
                    assert_eq!(results.iter().count(), JOBS);
                });
                let took = start.elapsed();
                took.as_secs_f64()
                    / on_threads(JOBS, workers.min(room), job).as_secs_f64()
            };
            let ratios = Ratios::new(measure(50, ratio));
            let what =
                format!("{kind}: {} of 50 within 1.1; {ratios}", ratios.within(1.1));
            println!("{what}");
            slow.extend((ratios.at(50) > 1.1).then_some(what));
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

/// How a server spawns the fiber of a connection.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
enum Serves {
    Spawn,
    Scope,
    Group,
}

/// A server that computes one job for each byte of a connection.
struct Server {
    job: Job,
    served: Mutex<HashMap<ThreadId, u64>>,
}

impl Server {
    fn serve(&self, mut stream: impl Read + Write) {
        let mut byte = [0];
        let mut answered = 0;
        while matches!(stream.read(&mut byte), Ok(1)) {
            self.job.run();
            answered += 1;
            if stream.write_all(&byte).is_err() {
                break;
            }
        }
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        *served.entry(thread::current().id()).or_insert(0) += u64::from(answered > 0);
    }

    /// Accepts `connections` connections, and returns when all have ended.
    fn run(self: &Arc<Self>, listener: &TcpListener, how: Serves, connections: usize) {
        let streams = listener.incoming().take(connections).map(Result::unwrap);
        match how {
            Serves::Spawn => {
                let each = |stream| {
                    let server = Arc::clone(self);
                    spawn(move || server.serve(stream))
                };
                let all: Vec<_> = streams.map(each).collect();
                all.into_iter().for_each(|fiber| fiber.join().unwrap());
            }
            Serves::Scope => scope(|s| {
                streams.for_each(|stream| drop(s.spawn(|| self.serve(stream))));
            }),
            Serves::Group => {
                let group = TaskGroup::new();
                for stream in streams {
                    let server = Arc::clone(self);
                    assert!(group.spawn(move || server.serve(stream)).is_ok());
                }
                group.wait().unwrap();
            }
        }
    }
}

/// Sends a request on each connection, and waits for all answers.
fn ask_all(streams: &mut [TcpStream]) {
    for stream in &mut *streams {
        stream.write_all(&[1]).unwrap();
    }
    for stream in streams {
        stream.read_exact(&mut [0]).unwrap();
    }
}

/// Returns the time of `rounds` requests on each of `connections` connections, as a multiple of the
/// time of threads, and the largest share of a worker, as a multiple of the mean.
fn serve(
    (how, arrival, connections): (Serves, Arrival, usize),
    workers: usize,
    (rounds, job): (usize, Job),
) -> (f64, f64) {
    let runtime = shaped(workers, Scheduler::WorkStealing);
    let server = Arc::new(Server {
        job,
        served: Mutex::default(),
    });
    let (tx, rx) = bounded(1);
    let serving = Arc::clone(&server);
    let accepting = runtime.spawn(move || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        tx.send(listener.local_addr().unwrap()).unwrap();
        serving.run(&listener, how, connections);
    });
    let mut streams = arrive(rx.recv().unwrap(), connections, arrival, ask_all);
    // The last connections have been accepted.
    ask_all(&mut streams);
    let start = Instant::now();
    (0..rounds).for_each(|_| ask_all(&mut streams));
    let took = start.elapsed();
    drop(streams);
    accepting.join().unwrap();
    let ideal = on_threads(connections * rounds, workers, job);
    let served = server.served.lock().unwrap_or_else(PoisonError::into_inner);
    let most = served.values().max().copied().unwrap_or(0);
    (
        took.as_secs_f64() / ideal.as_secs_f64(),
        most as f64 * workers as f64 / connections as f64,
    )
}

/// Servers in which every request computes: time, and the share of connections of each worker.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn alone_servers_use_all_processors() {
    const RUNS: usize = 20;
    let (mut within, mut shared, mut all) = (0, 0, 0);
    for workers in [2, 4, 8] {
        // Long enough that one late wake-up is no tenth of a run.
        for (connections, rounds) in [(64, 20), (1_000, 2)] {
            for how in [Serves::Spawn, Serves::Scope, Serves::Group] {
                for arrival in [Arrival::Idle, Arrival::Load, Arrival::Burst] {
                    let kind = format!(
                        "{how:?} {arrival:?}, {connections} connections, {workers} workers"
                    );
                    if !is_chosen(&kind) {
                        continue;
                    }
                    let job = Job::of(Duration::from_millis(1));
                    let (runs, repeated) = measure(RUNS, || {
                        serve((how, arrival, connections), workers, (rounds, job))
                    });
                    let (times, shares) = runs.into_iter().unzip();
                    let (times, shares) =
                        (Ratios::new((times, repeated)), Ratios::new((shares, 0)));
                    let (good, even) = (times.within(1.15), shares.within(1.3));
                    println!(
                        "{kind}: {good} of {RUNS} within 1.15; {times}; largest share: {even} of \
                         {RUNS} within 1.3; {shares}"
                    );
                    within += good;
                    shared += even;
                    all += RUNS;
                }
            }
        }
    }
    println!("{within} of {all} within 1.15, {shared} of {all} shares within 1.3");
    assert!(within * 10 >= all * 9, "{within} of {all} within 1.15");
    assert!(shared * 10 >= all * 9, "{shared} of {all} within 1.3");
}

//! Servers with fibers that settle before the work arrives: the time of the work, as in `shares`, and
//! the share of each worker.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pirn::channel::bounded;
use pirn::net::TcpListener;
use pirn::runtime::Scheduler;
use pirn::scope::TaskGroup;
use pirn::{scope, spawn};

use crate::others::measure;
use crate::shares::{Job, Ratios, on_threads};
use crate::util::shaped;

/// How a server spawns the fiber of a connection.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
enum Serves {
    Spawn,
    Scope,
    Group,
}

/// When the connections are opened.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
enum Arrival {
    /// One by one, while the server is idle.
    Idle,
    /// All at once.
    Burst,
    /// While a quarter of them have requests.
    Load,
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

fn open(address: SocketAddr, n: usize, pause: Duration) -> Vec<TcpStream> {
    let one = |_| {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        thread::sleep(pause);
        stream
    };
    (0..n).map(one).collect()
}

/// Opens the connections as `arrival` says.
fn arrive(address: SocketAddr, connections: usize, arrival: Arrival) -> Vec<TcpStream> {
    let one_by_one = Duration::from_micros(300);
    match arrival {
        Arrival::Idle => open(address, connections, one_by_one),
        Arrival::Burst => open(address, connections, Duration::ZERO),
        Arrival::Load => {
            let mut some = open(address, connections / 4, one_by_one);
            let over = AtomicBool::new(false);
            let rest = thread::scope(|s| {
                s.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        ask_all(&mut some);
                    }
                });
                let rest = open(address, connections - connections / 4, one_by_one);
                over.store(true, Ordering::Relaxed);
                rest
            });
            some.extend(rest);
            some
        }
    }
}

/// Returns the time of `rounds` requests on each of `connections` connections, as a multiple of the time of
/// threads, and the largest share of a worker, as a multiple of the mean.
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
    let mut streams = arrive(rx.recv().unwrap(), connections, arrival);
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
        for (connections, rounds) in [(64, 5), (1_000, 1)] {
            for how in [Serves::Spawn, Serves::Scope, Serves::Group] {
                for arrival in [Arrival::Idle, Arrival::Load, Arrival::Burst] {
                    let job = Job::of(Duration::from_millis(1));
                    let (runs, repeated) = measure(RUNS, || {
                        serve((how, arrival, connections), workers, (rounds, job))
                    });
                    let (times, shares) = runs.into_iter().unzip();
                    let (times, shares) =
                        (Ratios::new((times, repeated)), Ratios::new((shares, 0)));
                    let (good, even) = (times.within(1.15), shares.within(1.3));
                    println!(
                        "{how:?} {arrival:?}, {connections} connections, {workers} workers: \
                         {good} of {RUNS} within 1.15; {times}; largest share: {even} of \
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

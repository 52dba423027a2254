//! A server of axum on hyper, with a fiber for each connection: requests that compute use all
//! processors, whatever the workers did when the connections came.
#![allow(clippy::disallowed_methods, reason = "the clients are plain threads")]

use std::collections::HashMap;
use std::hint::black_box;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use pirn::Runtime;
use pirn::future::hyper::Executor;
use pirn::future::wait;
use pirn::net::TcpListener;

/// What a request computes.
const JOB: Duration = Duration::from_millis(1);

/// When the connections are opened.
#[derive(Debug, Copy, Clone)]
enum Arrival {
    /// One by one, while the server is idle.
    Idle,
    /// All at once.
    Burst,
    /// While a quarter of them have requests.
    Load,
}

/// A chain of that many multiplications.
#[inline(never)]
fn compute(steps: u64) {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (0..steps).fold(1_u64, |x, step| (x ^ step).wrapping_mul(ODD));
    black_box(mixed);
}

/// Returns how many steps take as long as a job on a processor of its own.
fn steps_of_a_job() -> u64 {
    const STEPS: u64 = 200_000;
    let time = |_| {
        let start = Instant::now();
        compute(STEPS);
        start.elapsed()
    };
    let fastest = (0..50).map(time).min().unwrap();
    (STEPS as f64 * JOB.as_secs_f64() / fastest.as_secs_f64()) as u64
}

/// Returns the time that threads need for the jobs, as many as there are processors.
fn on_threads(jobs: usize, steps: u64, most: usize) -> Duration {
    let processors = thread::available_parallelism().unwrap().get();
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    thread::scope(|s| {
        for _ in 0..processors.min(most) {
            s.spawn(|| {
                while next.fetch_add(1, Ordering::Relaxed) < jobs {
                    compute(steps);
                }
            });
        }
    });
    start.elapsed()
}

/// How many requests each thread has answered.
type Answered = Arc<Mutex<HashMap<ThreadId, usize>>>;

fn routes(steps: u64, answered: &Answered) -> Router {
    let answered = Arc::clone(answered);
    let answer = move || async move {
        compute(steps);
        let mut all = answered.lock().unwrap_or_else(PoisonError::into_inner);
        *all.entry(thread::current().id()).or_insert(0) += 1;
        "done"
    };
    Router::new().route("/", get(answer))
}

/// Sends a request on each connection, and waits for all answers.
fn ask_all(streams: &mut [TcpStream]) {
    for stream in &mut *streams {
        stream
            .write_all(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
            .unwrap();
    }
    for stream in streams {
        let (mut answer, mut some) = (Vec::new(), [0; 1_024]);
        while !answer.ends_with(b"\r\n\r\ndone") {
            let got = stream.read(&mut some).unwrap();
            assert!(got > 0, "{}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&some[..got]);
        }
    }
}

fn open(address: SocketAddr, n: usize, pause: Duration) -> Vec<TcpStream> {
    let one = |_| {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let limit = Some(Duration::from_secs(60));
        stream.set_read_timeout(limit).unwrap();
        thread::sleep(pause);
        stream
    };
    (0..n).map(one).collect()
}

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

/// Returns the time of `rounds` requests on each connection as a multiple of that of threads, and
/// the largest share of a worker as a multiple of the mean.
fn serve(
    connections: usize,
    arrival: Arrival,
    (workers, rounds, steps): (usize, usize, u64),
) -> (f64, f64) {
    let runtime = Runtime::builder().workers(workers).build().unwrap();
    let answered = Answered::default();
    let routes = routes(steps, &answered);
    let (addresses, address) = std::sync::mpsc::channel();
    let accepting = runtime.spawn(move || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        addresses.send(listener.local_addr().unwrap()).unwrap();
        for stream in listener.incoming().take(connections) {
            let service = TowerToHyperService::new(routes.clone());
            pirn::spawn(move || {
                let stream = stream.unwrap();
                let protocols = auto::Builder::new(Executor);
                // The client has gone.
                let _ = wait(protocols.serve_connection(stream, service));
            });
        }
    });
    let mut streams = arrive(address.recv().unwrap(), connections, arrival);
    ask_all(&mut streams);
    answered
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clear();
    let start = Instant::now();
    (0..rounds).for_each(|_| ask_all(&mut streams));
    let took = start.elapsed();
    drop(streams);
    accepting.join().unwrap();
    let ideal = on_threads(connections * rounds, steps, workers);
    let answered = answered.lock().unwrap_or_else(PoisonError::into_inner);
    let most = answered.values().max().copied().unwrap_or(0);
    (
        took.as_secs_f64() / ideal.as_secs_f64(),
        (most * workers) as f64 / (connections * rounds) as f64,
    )
}

#[test]
#[ignore = "a storm: run in a release build, on a quiet machine"]
fn alone_axum_uses_all_processors() {
    const RUNS: usize = 20;
    let steps = steps_of_a_job();
    for workers in [2, 4, 8] {
        for (connections, rounds) in [(64, 20), (1_000, 2)] {
            for arrival in [Arrival::Idle, Arrival::Load, Arrival::Burst] {
                let run = |_| serve(connections, arrival, (workers, rounds, steps));
                let (mut times, mut shares): (Vec<_>, Vec<_>) =
                    (0..RUNS).map(run).unzip();
                times.sort_unstable_by(f64::total_cmp);
                shares.sort_unstable_by(f64::total_cmp);
                let within = times.iter().filter(|time| **time <= 1.15).count();
                let shared = shares.iter().filter(|share| **share <= 1.3).count();
                let what = format!(
                    "{arrival:?}, {connections} connections, {workers} workers: \
                     {within} of {RUNS} within 1.15 (median {:.2}), {shared} shares within 1.3 \
                     (median {:.2})",
                    times[RUNS / 2],
                    shares[RUNS / 2]
                );
                println!("{what}");
                assert!(within * 10 >= RUNS * 9 && shared * 10 >= RUNS * 9, "{what}");
            }
        }
    }
}

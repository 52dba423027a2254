//! A server of axum on hyper, with a fiber for each connection: requests that compute use all
//! processors, whatever the workers did when the connections came.
#![allow(clippy::disallowed_methods, reason = "the clients are plain threads")]

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
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

#[path = "../../crates/pirn/tests/stress/load.rs"]
mod load;

use load::{Arrival, Job, arrive, on_threads};

/// How many requests each thread has answered.
type Answered = Arc<Mutex<HashMap<ThreadId, usize>>>;

fn routes(job: Job, answered: &Answered) -> Router {
    let answered = Arc::clone(answered);
    let answer = move || async move {
        job.run();
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

/// Returns the time of `rounds` requests on each connection as a multiple of that of threads, and
/// the largest share of a worker as a multiple of the mean.
fn serve(
    connections: usize,
    arrival: Arrival,
    (workers, rounds, job): (usize, usize, Job),
) -> (f64, f64) {
    let runtime = Runtime::builder().workers(workers).build().unwrap();
    let answered = Answered::default();
    let routes = routes(job, &answered);
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
    let mut streams = arrive(address.recv().unwrap(), connections, arrival, ask_all);
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
    let ideal = on_threads(connections * rounds, workers, job);
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
    let job = Job::of(Duration::from_millis(1));
    for workers in [2, 4, 8] {
        for (connections, rounds) in [(64, 20), (1_000, 2)] {
            for arrival in [Arrival::Idle, Arrival::Load, Arrival::Burst] {
                let run = |_| serve(connections, arrival, (workers, rounds, job));
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

//! A load for servers and pools: a job of fixed length, the time that plain threads need for jobs,
//! and connections that are opened in different ways.

use std::hint::black_box;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A computation of a fixed number of steps: a thread that waits for a processor makes no progress
/// meanwhile.
#[derive(Copy, Clone)]
pub(crate) struct Job(u64);

impl Job {
    /// A computation that takes this long on a processor of its own.
    pub(crate) fn of(length: Duration) -> Job {
        const STEPS: u64 = 200_000;
        let time = |_| {
            let start = Instant::now();
            Job(STEPS).run();
            start.elapsed()
        };
        let fastest = (0..50).map(time).min().unwrap();
        let steps = STEPS as f64 * length.as_secs_f64() / fastest.as_secs_f64();
        Job(steps as u64)
    }

    /// A chain of multiplications in registers. A step through memory has two speeds, which differ
    /// by half and last for a run, if the loop is not within one line of the cache.
    ///
    /// Not inlined: each copy of such a loop has a speed of its own.
    #[inline(never)]
    pub(crate) fn run(self) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let mixed = (0..self.0).fold(1_u64, |x, step| (x ^ step).wrapping_mul(ODD));
        black_box(mixed);
    }
}

/// Returns the time that as many plain threads as can run at a time need for `jobs` jobs.
pub(crate) fn on_threads(jobs: usize, most: usize, job: Job) -> Duration {
    let processors = thread::available_parallelism().unwrap().get();
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    thread::scope(|s| {
        for _ in 0..processors.min(most) {
            s.spawn(|| {
                while next.fetch_add(1, Ordering::Relaxed) < jobs {
                    job.run();
                }
            });
        }
    });
    start.elapsed()
}

/// When the connections are opened.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// One by one, while the server is idle.
    Idle,
    /// All at once.
    Burst,
    /// While a quarter of them have requests.
    Load,
}

fn open(address: SocketAddr, n: usize, pause: Duration) -> Vec<TcpStream> {
    let one = |_| {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        // A server that does not answer fails the test.
        let limit = Some(Duration::from_secs(60));
        stream.set_read_timeout(limit).unwrap();
        thread::sleep(pause);
        stream
    };
    (0..n).map(one).collect()
}

/// Opens the connections as `arrival` says. `ask_all` sends a request on each connection, and waits
/// for all answers.
pub(crate) fn arrive(
    address: SocketAddr,
    connections: usize,
    arrival: Arrival,
    ask_all: impl Fn(&mut [TcpStream]) + Sync,
) -> Vec<TcpStream> {
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

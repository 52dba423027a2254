//! Many requests at once on one worker, and how late a sleep of another fiber is meanwhile.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pirn::Runtime;
use pirn_hooks::within;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::peers::LIMIT;

/// How long a server waits before it answers a request.
pub(crate) const PAUSE: Duration = Duration::from_millis(200);

/// How many requests are made at once.
pub(crate) const REQUESTS: u32 = 50;

/// How many requests are made at once to servers that accept many connections.
pub(crate) const MANY_REQUESTS: u32 = 1_000;

/// The length of each sleep of the fiber that runs beside the requests.
const TICK: Duration = Duration::from_millis(5);

/// The figures of one run.
#[derive(Debug)]
pub(crate) struct Figures {
    requests: u32,
    pub(crate) took: Duration,
    /// The processor time of all processes on the machine, servers included.
    processor: Duration,
    /// The most by which a sleep beside the requests was too long.
    late: Duration,
}

impl Figures {
    /// Checks that all requests have waited at the same time, and did not delay the sleeps.
    #[track_caller]
    pub(crate) fn check(&self) {
        self.check_time();
        // The worker handles a thousand simultaneous answers one after the other.
        let bound = match self.requests <= REQUESTS {
            true => Duration::from_millis(20),
            false => PAUSE / 2,
        };
        assert!(self.late <= bound, "{self:?}");
    }

    /// Checks that all requests have waited at the same time.
    #[track_caller]
    pub(crate) fn check_time(&self) {
        assert!(self.took >= PAUSE, "{self:?}");
        assert!(
            self.took <= PAUSE.mul_f64(1.3) + self.processor,
            "the requests ran one after the other: {self:?}"
        );
        // Also fails for sequential requests if other programs have increased `processor`.
        assert!(self.took < PAUSE * self.requests / 5, "{self:?}");
    }

    /// Checks that all requests together took less than `waits` pauses, although each request
    /// pauses several times.
    #[track_caller]
    pub(crate) fn check_within(&self, waits: u32) {
        assert!(
            self.took < PAUSE * waits,
            "the requests ran one after the other: {self:?}"
        );
    }

    /// Checks that the requests have waited one after the other, and that sleeps were late.
    #[track_caller]
    pub(crate) fn check_blocked(&self) {
        assert!(self.took >= PAUSE * self.requests, "{self:?}");
        assert!(self.late >= PAUSE / 2, "{self:?}");
    }
}

/// Returns a runtime with one worker, and stacks that C libraries fit into.
pub(crate) fn one_worker() -> Runtime {
    let builder = Runtime::builder().workers(1).stack_size(1 << 20);
    builder.build().unwrap()
}

/// Calls `request` on fibers of one worker, inside of `within`.
pub(crate) fn at_once(
    name: &str,
    requests: u32,
    request: impl Fn(u32) + Sync,
) -> Figures {
    allow_many_files();
    let runtime = one_worker();
    let over = AtomicBool::new(false);
    let (start, before) = (Instant::now(), processor_time());
    let late = runtime.run(|| {
        pirn::scope(|s| {
            let ticker = s.spawn(|| tick(&over));
            pirn::scope(|all| {
                for number in 0..requests {
                    let request = &request;
                    all.spawn(move || within(|| request(number)));
                }
            });
            over.store(true, Ordering::Relaxed);
            ticker.join().unwrap()
        })
    });
    let figures = Figures {
        requests,
        took: start.elapsed(),
        processor: processor_time() - before,
        late,
    };
    println!("{name}: {figures:?}");
    figures
}

/// Calls [`at_once`] with [`REQUESTS`] and with [`MANY_REQUESTS`], and checks the figures.
#[track_caller]
pub(crate) fn check_each_count(name: &str, request: impl Fn(u32) + Sync) {
    for requests in [REQUESTS, MANY_REQUESTS] {
        at_once(name, requests, &request).check();
    }
}

/// Sleeps again and again; returns by how much the longest sleep was too long.
fn tick(over: &AtomicBool) -> Duration {
    let mut late = Duration::ZERO;
    while !over.load(Ordering::Relaxed) {
        let start = Instant::now();
        pirn::sleep(TICK).unwrap();
        late = late.max(start.elapsed() - TICK);
    }
    late
}

/// Returns the busy time of all processors since the system started.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/stat").unwrap();
    let line = text.lines().next().unwrap();
    let parts: Vec<u64> = line
        .split_whitespace()
        .skip(1)
        .map(|part| part.parse().unwrap())
        .collect();
    // Skips the fields `idle` and `iowait`, the fourth and the fifth.
    let busy = parts[..3].iter().sum::<u64>() + parts[5..8].iter().sum::<u64>();
    Duration::from_millis(busy * 10)
}

/// Starts a server that calls `serve` for each connection, on plain threads, which last as long as
/// the process.
pub(crate) fn serve(serve: impl Fn(TcpStream) + Copy + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // The backlog that `std` sets is too short for 1,000 clients.
    rustix::net::listen(&listener, 4_096).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.expect("a connection");
            thread::spawn(move || serve(stream));
        }
    });
    address
}

/// Reads an HTTP request, sleeps for `PAUSE`, and answers with the path of the request.
pub(crate) fn answer_late(mut stream: impl Read + Write) {
    let mut reader = BufReader::new(&mut stream);
    let mut request = String::new();
    reader.read_line(&mut request).unwrap();
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
        line.clear();
    }
    thread::sleep(PAUSE);
    let body = request.split(' ').nth(1).unwrap();
    let length = body.len();
    // The client may have gone.
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
}

/// Returns a free port, for a server that takes it at once.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Waits until a server listens on the port.
pub(crate) fn await_port(port: u16) {
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(start.elapsed() < LIMIT, "no server listens on port {port}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Raises the limit of open descriptors for this process and those that it starts.
pub(crate) fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).unwrap();
}

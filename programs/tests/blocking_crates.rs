//! Clients that block, unchanged, on fibers of one worker inside of `pirn_hooks::within`.
//!
//! Each test makes many requests at once, and each of them waits for `PAUSE` in the client. Without
//! the hooks they would wait one after the other.
#![allow(
    clippy::disallowed_methods,
    reason = "what blocks a thread is the subject"
)]

mod peers;

use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use pirn::sync::Pool;
use pirn::{JoinHandle, Runtime};
use pirn_hooks::within;
use redis::Commands as _;

use peers::{LIMIT, Program, peer};

const PAUSE: Duration = Duration::from_millis(200);
/// Fibers that wait at the same time.
const FIBERS: u32 = 50;

fn one_worker() -> Runtime {
    Runtime::builder().workers(1).build().unwrap()
}

/// Calls `request` on each of the fibers; fails if they wait one after the other.
fn all_at_once(request: impl Fn(u32) + Sync) {
    let start = Instant::now();
    one_worker().run(|| {
        pirn::scope(|s| {
            for number in 0..FIBERS {
                let request = &request;
                s.spawn(move || within(|| request(number)));
            }
        });
    });
    let took = start.elapsed();
    assert!(took >= PAUSE, "{took:?}");
    assert!(took < PAUSE * FIBERS / 2, "{took:?}");
}

/// A server for the clients under test, on a runtime of its own.
#[derive(Debug)]
struct Server {
    address: SocketAddr,
    serving: JoinHandle<()>,
    // Dropped last.
    _runtime: Runtime,
}

impl Server {
    /// Starts a server that calls `serve` for each connection.
    fn start(serve: fn(TcpStream)) -> Server {
        let runtime = one_worker();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serving = runtime.spawn(move || {
            within(|| {
                for stream in listener.incoming().map_while(Result::ok) {
                    drop(pirn::spawn(move || within(|| serve(stream))));
                }
            });
        });
        Server {
            address,
            serving,
            _runtime: runtime,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.cancel();
    }
}

/// Answers a request for HTTP after the pause with its path.
fn answer_late(mut stream: TcpStream) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let request = lines.next().unwrap().unwrap();
    while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
    std::thread::sleep(PAUSE);
    let body = request.split(' ').nth(1).unwrap();
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .unwrap();
}

/// Echoes messages of a WebSocket after the pause.
fn echo_late(stream: TcpStream) {
    let mut socket = tungstenite::accept(stream).unwrap();
    while let Ok(message) = socket.read() {
        if message.is_close() {
            break;
        }
        std::thread::sleep(PAUSE);
        socket.send(message).unwrap();
    }
}

#[test]
fn ureq_requests_at_once() {
    let server = Server::start(answer_late);
    let address = server.address;
    all_at_once(|number| {
        let mut answer = ureq::get(format!("http://{address}/{number}"))
            .call()
            .unwrap();
        let body = answer.body_mut().read_to_string().unwrap();
        assert_eq!(body, format!("/{number}"));
    });
}

#[test]
fn ureq_obeys_a_deadline_around_it() {
    let server = Server::start(answer_late);
    let address = server.address;
    one_worker().run(|| {
        within(|| {
            let mut ended = None;
            let _ = pirn::timeout(PAUSE / 10, || {
                ended = Some(ureq::get(format!("http://{address}/")).call());
            });
            let error = ended.unwrap().unwrap_err();
            assert!(
                matches!(&error, ureq::Error::Timeout(_))
                    || kind(&error) == Some(ErrorKind::TimedOut),
                "{error:?}"
            );
        });
    });
}

fn kind(error: &ureq::Error) -> Option<ErrorKind> {
    match error {
        ureq::Error::Io(error) => Some(error.kind()),
        _ => None,
    }
}

#[test]
fn tungstenite_echoes_at_once() {
    let server = Server::start(echo_late);
    let address = server.address;
    all_at_once(|number| {
        let stream = TcpStream::connect(address).unwrap();
        let (mut socket, _) =
            tungstenite::client(format!("ws://{address}/"), stream).unwrap();
        socket.send(format!("{number}").into()).unwrap();
        assert_eq!(
            socket.read().unwrap().into_text().unwrap(),
            format!("{number}")
        );
        socket.close(None).unwrap();
    });
}

/// Starts a redis-server; returns it with a client.
fn redis_server() -> Option<(Program, redis::Client)> {
    let mut server = peer("redis-server", "redis-server")?;
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    server.args(["--save", "", "--appendonly", "no", "--bind", "127.0.0.1"]);
    server.args(["--port", &port.to_string()]);
    let program = Program::start(&mut server);
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(start.elapsed() < LIMIT, "redis-server does not listen");
        std::thread::sleep(Duration::from_millis(5));
    }
    Some((program, redis::Client::open(("127.0.0.1", port)).unwrap()))
}

#[test]
fn redis_blocks_at_once() {
    let Some((_server, client)) = redis_server() else {
        return;
    };
    all_at_once(|number| {
        let mut connection = client.get_connection().unwrap();
        let key = format!("key-{number}");
        let none: Option<(String, u32)> = connection
            .blpop(format!("list-{number}"), PAUSE.as_secs_f64())
            .unwrap();
        assert_eq!(none, None);
        connection.set::<_, _, ()>(&key, number).unwrap();
        assert_eq!(connection.get::<_, u32>(&key).unwrap(), number);
    });
}

/// Of many requests a tenth is interrupted while it waits for the reply. Its connection is
/// discarded, so no other request receives that reply.
#[test]
fn no_request_receives_the_reply_of_another() {
    const REQUESTS: u32 = 1_000;
    const CONNECTIONS: usize = 10;
    let Some((_server, client)) = redis_server() else {
        return;
    };
    let pool = Pool::new(CONNECTIONS, move || client.get_connection().unwrap());
    one_worker().run(|| {
        pirn::scope(|s| {
            for number in 0..REQUESTS {
                let pool = &pool;
                s.spawn(move || within(|| request(pool, number)));
            }
        });
    });
}

fn request(pool: &Pool<redis::Connection>, number: u32) {
    let mut connection = pool.get().unwrap();
    if !number.is_multiple_of(10) {
        let echo = redis::cmd("ECHO")
            .arg(number)
            .query::<u32>(&mut *connection);
        assert_eq!(echo.unwrap(), number);
        return;
    }
    let mut ended = None;
    let _ = pirn::timeout(Duration::from_millis(2), || {
        ended = Some(connection.blpop::<_, Option<(String, u32)>>("none", 60.0));
    });
    let error = ended.unwrap().unwrap_err();
    assert!(error.is_timeout() || error.is_io_error(), "{error:?}");
    drop(connection.discard());
}

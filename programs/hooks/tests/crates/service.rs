//! The service, with many clients at once, each of which keeps its connection.

use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{iter, thread};

use pirn::net::TcpStream;

use crate::fixture::allow_many_files;
use crate::peers::{LIMIT, Program, await_close, connect};
use crate::pools::redis_server;

#[test]
fn the_service_on_threads() {
    serve("threads", 200);
}

#[test]
fn the_service_on_fibers() {
    serve("fibers", 10_000);
}

/// Starts the service, and sends two requests from each of the clients, the second one when all
/// have had an answer to the first.
fn serve(mode: &str, clients: usize) {
    let Some((_redis, client)) = redis_server() else {
        return;
    };
    allow_many_files();
    let mut service = Command::new(env!("CARGO_BIN_EXE_service"));
    service.args(["127.0.0.1:0", &address_of(&client), mode]);
    let (service, address) = Program::serve_by(&mut service);
    let start = Instant::now();
    pirn::run(|| {
        // At the same time: a backlog that is full delays each of them by a second.
        let streams: Vec<_> = pirn::scope(|s| {
            let connect = |_| s.spawn(move || TcpStream::connect(address).unwrap());
            let all: Vec<_> = (0..clients).map(connect).collect();
            all.into_iter().map(|fiber| fiber.join().unwrap()).collect()
        });
        for round in 1..=2 {
            pirn::scope(|s| {
                for (number, stream) in streams.iter().enumerate() {
                    s.spawn(move || ask(stream, number, round));
                }
            });
        }
    });
    let took = start.elapsed();
    println!(
        "service on {mode}: {clients} clients, {} requests in {took:?}, {} KiB",
        2 * clients,
        service.peak_memory() >> 10
    );
}

/// Returns the address of the server of this client.
fn address_of(client: &redis::Client) -> String {
    let redis::ConnectionAddr::Tcp(host, port) = client.get_connection_info().addr()
    else {
        panic!("a server on TCP");
    };
    format!("{host}:{port}")
}

/// Sends a request, and checks the answer.
fn ask(mut stream: &TcpStream, number: usize, round: u32) {
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let request = format!("GET /{number} HTTP/1.1\r\nHost: here\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    // The status, a header, an empty line, the body.
    for _ in 0..4 {
        line.clear();
        reader.read_line(&mut line).unwrap();
    }
    assert_eq!(line, format!("/{number} {round}\n"));
}

/// The service in both modes, with a limit on its descriptors. Its clients have this number of
/// seconds, and there is no Redis at its address.
fn strict(descriptors: usize, seconds: &str) -> [(Program, SocketAddr); 2] {
    ["threads", "fibers"].map(|mode| {
        let mut shell = Command::new("sh");
        let script = format!("ulimit -n {descriptors}; exec \"$0\" \"$@\"");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_service")]);
        Program::serve_by(shell.args(["127.0.0.1:0", "127.0.0.1:1", mode, seconds]))
    })
}

/// Sends a line without an end, and asserts that the connection is closed at once.
fn send_too_long_a_line(address: SocketAddr) {
    let mut client = connect(address);
    // The connection may be closed already.
    let _ = client.write_all(&[b'x'; 16 << 10]);
    let start = Instant::now();
    await_close(&client);
    assert!(start.elapsed() < LIMIT / 2, "{:?}", start.elapsed());
}

/// Clients that send nothing, or a line without an end, are cut off.
#[test]
fn the_service_bounds_its_clients() {
    for (_service, address) in strict(256, "1") {
        await_close(&connect(address));
    }
    for (_service, address) in strict(256, "600") {
        send_too_long_a_line(address);
    }
}

/// A client that reads no answers is cut off.
#[test]
fn the_service_bounds_its_answers() {
    let Some((_redis, client)) = redis_server() else {
        return;
    };
    let redis = address_of(&client);
    for mode in ["threads", "fibers"] {
        let mut service = Command::new(env!("CARGO_BIN_EXE_service"));
        service.args(["127.0.0.1:0", &redis, mode, "1"]);
        let (_service, address) = Program::serve_by(&mut service);
        let mut client = connect(address);
        let request = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(8_000));
        let mut sent = Ok(());
        while sent.is_ok() {
            sent = client.write_all(request.as_bytes());
        }
        let kind = sent.unwrap_err().kind();
        let is_cut = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe].contains(&kind);
        assert!(is_cut, "{mode}: {kind}");
    }
}

/// A body is no request, and ends the connection; `HEAD` gets no body.
#[test]
fn the_service_answers_requests_alone() {
    let Some((_redis, client)) = redis_server() else {
        return;
    };
    let redis = address_of(&client);
    for mode in ["threads", "fibers"] {
        let mut service = Command::new(env!("CARGO_BIN_EXE_service"));
        service.args(["127.0.0.1:0", &redis, mode]);
        let (_service, address) = Program::serve_by(&mut service);
        for body in [
            "Content-Length: 19\r\n\r\nGET /b HTTP/1.1\r\n\r\n",
            "transfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        ] {
            let mut client = connect(address);
            let empty = "HEAD /h HTTP/1.1\r\ncontent-length: 0\r\n\r\n";
            let requests = format!("{empty}POST /p HTTP/1.1\r\n{body}");
            client.write_all(requests.as_bytes()).unwrap();
            let answers = String::from_utf8(await_close(&client)).unwrap();
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n";
            let expected = format!("{head}\r\n{head}Connection: close\r\n\r\n/p ");
            assert!(answers.starts_with(&expected), "{mode}: {answers}");
            assert_eq!(answers.len(), expected.len() + 2, "{mode}: {answers}");
        }
    }
}

/// No time at all for a client is refused.
#[test]
fn the_service_refuses_a_time_of_zero() {
    let mut service = Command::new(env!("CARGO_BIN_EXE_service"));
    service.args(["127.0.0.1:0", "127.0.0.1:1", "fibers", "0"]);
    let ended = Program::start(service.stderr(Stdio::piped())).end();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    assert!(ended.errors.contains("SECONDS is 0"), "{ended:?}");
}

/// A service that has run out of descriptors accepts again when it has some.
#[test]
fn the_service_outlives_a_lack_of_descriptors() {
    const MOST: usize = 64;
    for (service, address) in strict(MOST, "600") {
        let clients: Vec<_> = iter::repeat_with(|| connect(address)).take(MOST).collect();
        let start = Instant::now();
        while service.descriptors() < MOST {
            assert!(start.elapsed() < LIMIT, "some descriptors are free");
            thread::sleep(Duration::from_millis(1));
        }
        drop(clients);
        send_too_long_a_line(address);
    }
}

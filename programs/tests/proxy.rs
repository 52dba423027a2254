//! `proxy`, in front of `web` and of a plain server, tested with curl and sockets of the standard
//! library.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod peers;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use peers::{LIMIT, Program, await_refusal, connect, listening, peer, run};

fn web() -> (Program, SocketAddr) {
    Program::serve(env!("CARGO_BIN_EXE_web"), &[])
}

/// Starts a proxy in front of servers that answer `/notes`.
fn proxy(to: &[SocketAddr], args: &[&str]) -> (Program, SocketAddr) {
    let mut proxy = listening(env!("CARGO_BIN_EXE_proxy"));
    proxy.args(["--health", "/notes"]);
    for address in to {
        proxy.args(["--to", &address.to_string()]);
    }
    Program::serve_by(proxy.args(args))
}

/// Sends a request without a body; returns the status and the answer's head and body.
fn ask(mut stream: &TcpStream, method: &str, path: &str) -> (u16, String, String) {
    let request = format!("{method} {path} HTTP/1.1\r\nhost: here\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .expect("a server that reads");
    answer(&mut BufReader::new(stream))
}

/// Reads an answer with a length.
fn answer(reader: &mut BufReader<&TcpStream>) -> (u16, String, String) {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let read = reader.read_line(&mut head).expect("a server that answers");
        assert!(read > 0, "the connection was closed after {head:?}");
    }
    let field = |name: &str| {
        let line = head.lines().find_map(|line| line.strip_prefix(name));
        line.map(|value| value.trim().to_owned())
    };
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let length = field("content-length:").map_or(0, |it| it.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body of that length");
    let status = status.unwrap_or_else(|| panic!("no status: {head:?}"));
    (status, head, String::from_utf8_lossy(&body).into_owned())
}

fn metrics(address: SocketAddr) -> String {
    ask(&connect(address), "GET", "/proxy/metrics").2
}

#[track_caller]
fn await_metric(address: SocketAddr, line: &str) {
    let start = Instant::now();
    loop {
        let text = metrics(address);
        if text.lines().any(|it| it == line) {
            return;
        }
        assert!(start.elapsed() < LIMIT, "no `{line}`: {text}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the value of a metric of this backend.
#[track_caller]
fn value(metrics: &str, name: &str, backend: SocketAddr) -> u64 {
    let start = format!("proxy_backend_{name}{{backend=\"{backend}\"}} ");
    let value = metrics
        .lines()
        .find_map(|line| line.strip_prefix(start.as_str()));
    value
        .and_then(|value| value.parse().ok())
        .unwrap_or_else(|| panic!("no `{start}`: {metrics}"))
}

/// Starts a server that answers each request with what `respond` returns for its head. That may
/// read the body first.
fn server<R>(respond: R) -> SocketAddr
where
    R: Fn(&str, &mut BufReader<&TcpStream>) -> String + Send + Sync + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let respond = Arc::new(respond);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, respond) = (stream.expect("a connection"), Arc::clone(&respond));
            thread::spawn(move || {
                let mut reader = BufReader::new(&stream);
                loop {
                    let mut head = String::new();
                    while !head.ends_with("\r\n\r\n") {
                        // The proxy has closed the connection.
                        if !reader.read_line(&mut head).is_ok_and(|read| read > 0) {
                            return;
                        }
                    }
                    let answer = respond(&head, &mut reader);
                    // As above.
                    let _ = (&stream).write_all(answer.as_bytes());
                }
            });
        }
    });
    address
}

/// A server that answers each request with its head.
fn mirror() -> SocketAddr {
    server(|head, _| {
        let length = head.len();
        format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\
             connection: x-hop\r\nx-hop: 1\r\nx-kept: 1\r\n\r\n{head}"
        )
    })
}

/// Sends a request with these lines, on a connection of its own; returns what [`ask`] does.
fn send(address: SocketAddr, request: &str) -> (u16, String, String) {
    let stream = connect(address);
    (&stream)
        .write_all(request.as_bytes())
        .expect("a proxy that reads");
    answer(&mut BufReader::new(&stream))
}

/// Reads a body in chunks.
fn chunks(reader: &mut BufReader<&TcpStream>) -> String {
    let mut data = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a chunk");
        let size = usize::from_str_radix(line.trim_end(), 16).expect("its size");
        let start = data.len();
        data.resize(start + size + 2, 0);
        reader
            .read_exact(&mut data[start..])
            .expect("the whole chunk");
        data.truncate(start + size);
        if size == 0 {
            return String::from_utf8_lossy(&data).into_owned();
        }
    }
}

// Proves: N5-X-proxy.
#[test]
fn requests_and_bodies_pass() {
    let Some(mut curl) = peer("curl", "curl") else {
        return;
    };
    let ((_web, backend), directory) = (web(), peers::directory("proxy-bodies"));
    let (_proxy, address) = proxy(&[backend], &[]);
    let file = directory.join("body");
    let body: Vec<u8> = (0..8_000_000_u32).map(|i| (i ^ i >> 8) as u8).collect();
    std::fs::write(&file, &body).expect("a file");
    let data = format!("@{}", file.display());
    curl.args(["--silent", "--show-error", "--max-time", "60", "--http1.1"]);
    let ask = |args: &[&str]| {
        let mut command = Command::new(curl.get_program());
        run(command.args(curl.get_args()).args(args), "")
    };
    for header in ["expect:", "transfer-encoding: chunked"] {
        let digest = |address: SocketAddr| format!("http://{address}/digest");
        let args = ["--header", header, "--data-binary", &data];
        let sums = [backend, address]
            .map(|address| ask(&[&args[..], &[&digest(address)]].concat()));
        assert_eq!(sums[0].len(), 64, "{sums:?}");
        assert_eq!(sums[0], sums[1], "{header}");
    }
    let note = format!("http://{address}/notes/milk");
    assert_eq!(ask(&["-X", "PUT", "--data", "two", &note]), "");
    assert_eq!(ask(&[&note]), "two");
    assert_eq!(
        ask(&["--head", &note]).lines().next(),
        Some("HTTP/1.1 200 OK")
    );
}

// Proves: N5-X-proxy.
#[test]
fn headers_of_one_connection_are_not_passed_on() {
    let backend = mirror();
    let (_proxy, address) = proxy(&[backend], &[]);
    let mut stream = connect(address);
    let request = "GET /a?b HTTP/1.1\r\nhost: there\r\nconnection: keep-alive, x-mine\r\n\
                   x-mine: 1\r\nte: trailers\r\nx-forwarded-for: 192.0.2.1\r\nx-kept: 1\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let (status, head, seen) = answer(&mut BufReader::new(&stream));
    assert_eq!(status, 200);
    assert!(
        head.contains("x-kept: 1") && !head.contains("x-hop"),
        "{head}"
    );
    assert!(seen.starts_with("GET /a?b HTTP/1.1\r\n"), "{seen}");
    for line in [
        "host: there",
        "x-kept: 1",
        "x-forwarded-for: 192.0.2.1, 127.0.0.1",
    ] {
        assert!(seen.lines().any(|it| it == line), "no `{line}`: {seen}");
    }
    for name in ["x-mine", "te:", "connection:"] {
        assert!(!seen.contains(name), "{name}: {seen}");
    }
    let (status, ..) = ask(&stream, "GET", "/again");
    assert_eq!(status, 200, "the connection of the client is kept");
}

/// One of two servers is killed amid requests, and comes back.
// Proves: N5-X-proxy.
#[test]
fn no_request_fails_with_a_server() {
    let ((dies, first), (_stays, second)) = (web(), web());
    let (_proxy, address) = proxy(&[first, second], &["--every", "0.05"]);
    let clients: Vec<_> = (0..4)
        .map(|_| {
            thread::spawn(move || {
                let stream = connect(address);
                for number in 0..500 {
                    let (status, _, body) = ask(&stream, "GET", "/notes");
                    assert_eq!((status, body.as_str()), (200, ""), "request {number}");
                }
            })
        })
        .collect();
    thread::sleep(Duration::from_millis(20));
    drop(dies);
    for client in clients {
        client.join().expect("all requests are answered");
    }
    await_metric(
        address,
        &format!("proxy_backend_up{{backend=\"{first}\"}} 0"),
    );
    let again = ["--listen", &first.to_string()];
    let _back = Program::serve_by(Command::new(env!("CARGO_BIN_EXE_web")).args(again));
    await_metric(
        address,
        &format!("proxy_backend_up{{backend=\"{first}\"}} 1"),
    );
    await_metric(
        address,
        &format!("proxy_backend_up{{backend=\"{second}\"}} 1"),
    );
    assert!(
        metrics(address).contains("\npirn_workers "),
        "the runtime's counters"
    );
}

// Proves: N5-X-proxy.
#[test]
fn limits_are_answered_with_their_status() {
    let (_web, backend) = web();
    let (_late, address) = proxy(&[backend], &["--limit", "0.2"]);
    let (status, _, text) = ask(&connect(address), "GET", "/later/5000");
    assert_eq!((status, text.as_str()), (504, "no answer in time\n"));

    let (_busy, address) = proxy(
        &[backend],
        &["--at-once", "1", "--wait", "0.2", "--every", "60"],
    );
    let running = connect(address);
    (&running)
        .write_all(b"GET /later/2000 HTTP/1.1\r\nhost: here\r\n\r\n")
        .unwrap();
    let line = format!("proxy_backend_requests_total{{backend=\"{backend}\"}} 2");
    await_metric(address, &line);
    let (status, head, _) = ask(&connect(address), "GET", "/notes");
    assert_eq!(status, 503);
    assert!(head.contains("retry-after: 1"), "{head}");
    assert_eq!(answer(&mut BufReader::new(&running)).0, 200);

    let nothing = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let (_alone, address) = proxy(&[nothing], &["--every", "60"]);
    // Depending on whether the first check has ended.
    let (status, ..) = ask(&connect(address), "POST", "/notes");
    assert!([502, 503].contains(&status), "{status}");
    let mut hostless = connect(address);
    hostless.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(answer(&mut BufReader::new(&hostless)).0, 400);
}

/// A client that leaves takes no place at a server.
// Proves: N5-X-proxy.
#[test]
fn a_client_that_leaves_ends_its_request() {
    let (_web, backend) = web();
    let (_proxy, address) = proxy(&[backend], &["--at-once", "1", "--every", "60"]);
    let leaves = connect(address);
    (&leaves)
        .write_all(b"GET /later/60000 HTTP/1.1\r\nhost: here\r\n\r\n")
        .unwrap();
    let line = format!("proxy_backend_requests_total{{backend=\"{backend}\"}} 2");
    await_metric(address, &line);
    drop(leaves);
    let start = Instant::now();
    while ask(&connect(address), "GET", "/notes").0 != 200 {
        assert!(start.elapsed() < LIMIT, "the place is not free");
    }
}

// Proves: N5-X-proxy.
#[test]
fn a_shutdown_answers_what_has_begun() {
    let (_web, backend) = web();
    let (proxy, address) = proxy(&[backend], &["--every", "60"]);
    let running = connect(address);
    (&running)
        .write_all(b"GET /later/1000 HTTP/1.1\r\nhost: here\r\n\r\n")
        .unwrap();
    let line = format!("proxy_backend_requests_total{{backend=\"{backend}\"}} 2");
    await_metric(address, &line);
    proxy.terminate();
    await_refusal(address);
    let (status, _, body) = answer(&mut BufReader::new(&running));
    assert_eq!((status, body.as_str()), (200, "late"));
    drop(running);
    assert!(proxy.end().status.success());
}

/// Starts a server that answers `/notes`, and each other request with a body of `pieces` pieces of
/// 64 KiB, with a pause before each.
fn pieces(pieces: usize, pause: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            thread::spawn(move || {
                let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let first = lines.next().unwrap_or_default();
                lines.find(String::is_empty);
                let count = if first.contains("/notes") { 0 } else { pieces };
                let length = count << 16;
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
                );
                // The proxy may have closed the connection.
                let _ = stream.write_all(head.as_bytes());
                for _ in 0..count {
                    thread::sleep(pause);
                    let _ = stream.write_all(&[b'x'; 1 << 16]);
                }
            });
        }
    });
    address
}

/// A client that reads nothing of its answer is disconnected, so others get its place at the backend.
/// An answer counts too if its end is buffered. A client that reads slowly is not disconnected, nor
/// is one with a slow backend.
// Proves: N5-X-proxy.
#[test]
fn a_client_that_does_not_read_is_disconnected() {
    let limits = ["--at-once", "1", "--stall", "2", "--wait", "60"];
    let (_proxy, address) = proxy(&[pieces(1_000, Duration::ZERO)], &limits);
    let stuck = stuck(address);
    let (status, _, body) = ask(&connect(address), "GET", "/all");
    assert_eq!((status, body.len()), (200, 1_000 << 16));
    let left = peers::await_close(&stuck).len();
    assert!(left < 1_000 << 16, "{left} bytes");

    let (_proxy, address) = proxy(&[pieces(16, Duration::ZERO)], &limits);
    let stuck = self::stuck(address);
    await_no_connection(address);
    let left = peers::await_close(&stuck).len();
    assert!(left < 16 << 16, "{left} bytes");

    // 2 MiB, of which 64 KiB are read every 100 ms.
    let (_proxy, address) = proxy(&[pieces(32, Duration::ZERO)], &limits);
    let mut slow = self::stuck(address);
    let mut left = 0;
    let mut buffer = vec![0; 64 << 10];
    loop {
        thread::sleep(Duration::from_millis(100));
        match slow.read(&mut buffer).expect("a connection that stays") {
            0 => break,
            read => left += read,
        }
        if left >= 32 << 16 {
            break;
        }
    }
    assert!(left >= 32 << 16, "{left} bytes");

    let (_proxy, address) = proxy(&[pieces(2, Duration::from_secs(3))], &limits);
    let (status, _, body) = ask(&connect(address), "GET", "/slow");
    assert_eq!((status, body.len()), (200, 2 << 16));
}

/// An answer that is none of HTTP, or switches protocols, fails alone. So does a request with a body
/// that does not end: its connection serves no other.
// Proves: N5-X-proxy.
#[test]
fn a_wrong_answer_takes_no_server_down() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let backend = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone().expect("a clone"));
                let mut first = String::new();
                while reader.read_line(&mut first).is_ok_and(|read| read > 0) {
                    let mut line = String::new();
                    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                        line.clear();
                    }
                    let answer = match first.split(' ').nth(1) {
                        Some("/bad") => "HTTP/1.1 200 OK\r\nFoo bar\r\n\r\n",
                        Some("/switch") => "HTTP/1.1 101 Switching Protocols\r\n\r\n",
                        _ => "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
                    };
                    // The proxy may have closed the connection.
                    let _ = stream.write_all(answer.as_bytes());
                    first.clear();
                }
            });
        }
    });
    let (_proxy, address) = proxy(&[backend], &["--every", "60", "--limit", "5"]);
    assert_eq!(ask(&connect(address), "GET", "/ok").0, 200);
    for path in ["/bad", "/switch"] {
        assert_eq!(ask(&connect(address), "GET", path).0, 502);
        assert_eq!(ask(&connect(address), "GET", "/ok").0, 200);
    }
    let mut early = connect(address);
    let request =
        b"POST /early HTTP/1.1\r\nhost: here\r\ncontent-length: 1000\r\n\r\nxxx";
    early.write_all(request).expect("a proxy that reads");
    assert_eq!(answer(&mut BufReader::new(&early)).0, 200);
    assert_eq!(ask(&connect(address), "GET", "/ok").0, 200);
}

/// A client that breaks off its upload, or sends a wrong one, takes no server away from others.
// Proves: N5-X-proxy.
#[test]
fn a_broken_upload_takes_no_server_down() {
    let (_web, backend) = web();
    let (_proxy, address) = proxy(&[backend], &["--every", "60"]);
    let line = format!("proxy_backend_requests_total{{backend=\"{backend}\"}} 1");
    await_metric(address, &line);
    for (header, body) in [
        ("transfer-encoding: chunked", "zz\r\n"),
        ("content-length: 1000", "xxx"),
    ] {
        assert_eq!(ask(&connect(address), "GET", "/notes").0, 200);
        let broken = connect(address);
        let request =
            format!("POST /digest HTTP/1.1\r\nhost: here\r\n{header}\r\n\r\n{body}");
        (&broken).write_all(request.as_bytes()).unwrap();
        broken.shutdown(Shutdown::Write).unwrap();
        let (status, _, text) = answer(&mut BufReader::new(&broken));
        assert_eq!(ask(&connect(address), "GET", "/notes").0, 200, "{header}");
        assert_eq!(status, 400, "{header}: {text}");
    }
}

/// A server that answers before the body has come is not kept by a client that sends no more; nor
/// is one that waits for the body.
// Proves: N5-X-proxy.
#[test]
fn an_upload_that_stalls_is_ended() {
    let closed = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&closed);
    let backend = server(move |head, reader| {
        let ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
        if head.starts_with("GET ") {
            return ok.to_owned();
        }
        if head.starts_with("POST ") {
            let mut stream: &TcpStream = reader.get_ref();
            stream.write_all(ok.as_bytes()).expect("a proxy that reads");
        }
        // A reset is an end, too.
        let _ = reader.read_to_end(&mut Vec::new());
        count.fetch_add(1, Ordering::SeqCst);
        String::new()
    });
    let (_proxy, address) = proxy(&[backend], &["--stall", "0.5", "--every", "60"]);
    for (method, expected) in [("POST", 200), ("PUT", 408)] {
        let stuck = connect(address);
        let request = format!(
            "{method} /a HTTP/1.1\r\nhost: here\r\ncontent-length: 1000\r\n\r\nxxx"
        );
        (&stuck).write_all(request.as_bytes()).unwrap();
        let (status, _, text) = answer(&mut BufReader::new(&stuck));
        assert_eq!(status, expected, "{method}: {text}");
        peers::await_close(&stuck);
        assert_eq!(ask(&connect(address), "GET", "/notes").0, 200, "{method}");
    }
    let start = Instant::now();
    while closed.load(Ordering::SeqCst) < 2 {
        assert!(
            start.elapsed() < LIMIT,
            "a connection to the server is open"
        );
        thread::sleep(Duration::from_millis(10));
    }
}

/// Connections with uploads that stall after their answers hold up neither a check nor a request.
// Proves: N5-X-proxy.
#[test]
fn stalled_uploads_take_no_server_down() {
    const UPLOADS: usize = 60;
    // Each upload has a connection of its own: none is answered before all have come.
    let all = Barrier::new(UPLOADS);
    let backend = server(move |head, reader| {
        let ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
        if !head.starts_with("POST ") {
            return ok.to_owned();
        }
        all.wait();
        let mut stream: &TcpStream = reader.get_ref();
        stream.write_all(ok.as_bytes()).expect("a proxy that reads");
        // A reset is an end, too.
        let _ = reader.read_to_end(&mut Vec::new());
        String::new()
    });
    let (_proxy, address) = proxy(&[backend], &["--every", "0.1"]);
    let request = b"POST /a HTTP/1.1\r\nhost: here\r\ncontent-length: 1000\r\n\r\nxxx";
    let stalled: Vec<TcpStream> = (0..UPLOADS)
        .map(|_| {
            let mut stream = connect(address);
            stream.write_all(request).expect("a proxy that reads");
            stream
        })
        .collect();
    for stream in &stalled {
        assert_eq!(answer(&mut BufReader::new(stream)).0, 200);
    }
    let before = metrics(address);
    let asked = value(&before, "requests_total", backend);
    let failed = value(&before, "failures_total", backend);
    let start = Instant::now();
    // When the second check from now on begins, the first one has ended.
    let now = loop {
        let now = metrics(address);
        if value(&now, "requests_total", backend) >= asked + 2 {
            break now;
        }
        assert!(start.elapsed() < LIMIT, "no further check: {now}");
        thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(value(&now, "failures_total", backend), failed, "{now}");
    assert_eq!(value(&now, "up", backend), 1, "{now}");
    assert_eq!(ask(&connect(address), "GET", "/notes").0, 200);
}

/// A request that each server answers by closing its connection fails alone.
// Proves: N5-X-proxy.
#[test]
fn a_request_that_loses_its_connection_takes_no_server_down() {
    let closes_at_boom = || {
        server(|head, reader| {
            if head.starts_with("GET /boom ") {
                let closed = reader.get_ref().shutdown(Shutdown::Both);
                closed.expect("a connection that can be closed");
                return String::new();
            }
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".to_owned()
        })
    };
    let backends = [closes_at_boom(), closes_at_boom()];
    let (_proxy, address) = proxy(&backends, &["--every", "60"]);
    for backend in backends {
        let line = format!("proxy_backend_requests_total{{backend=\"{backend}\"}} 1");
        await_metric(address, &line);
    }
    let (status, _, text) = ask(&connect(address), "GET", "/boom");
    assert_eq!((status, text.as_str()), (502, "no server has answered\n"));
    assert_eq!(ask(&connect(address), "GET", "/notes").0, 200);
    for backend in backends {
        assert_eq!(value(&metrics(address), "up", backend), 1, "{backend}");
    }
}

/// A request of HTTP/1.0 needs no Host; the servers get one all the same. The name of a user in
/// the target is not part of it.
// Proves: N5-X-proxy.
#[test]
fn servers_get_the_host_that_is_asked() {
    let backend = mirror();
    let (_proxy, address) = proxy(&[backend], &[]);
    let own = backend.to_string();
    let user = "//me@example.com:81/";
    let target = format!("GET http:{user} HTTP/1.1\r\nhost: here\r\n\r\n");
    for (request, expected) in [
        ("GET / HTTP/1.0\r\n\r\n", own.as_str()),
        ("GET / HTTP/1.0\r\nhost: here\r\n\r\n", "here"),
        (&target, "example.com:81"),
    ] {
        let (status, _, seen) = send(address, request);
        assert_eq!(status, 200, "{request}");
        let hosts = seen.lines().filter_map(|line| line.strip_prefix("host: "));
        assert_eq!(hosts.collect::<Vec<_>>(), [expected], "{seen}");
    }
    for request in [
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.0\r\nhost: here\r\nhost: there\r\n\r\n",
    ] {
        assert_eq!(send(address, request).0, 400, "{request}");
    }
}

// Proves: N5-X-proxy.
#[test]
fn a_body_in_chunks_passes_with_each_method() {
    let backend = server(|head, reader| {
        let body = match head.contains("\r\ntransfer-encoding: chunked\r\n") {
            true => chunks(reader),
            false => String::new(),
        };
        format!("HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx-body: {body}\r\n\r\n")
    });
    let (_proxy, address) = proxy(&[backend], &[]);
    for method in ["GET", "HEAD", "POST"] {
        let request = format!(
            "{method} /a HTTP/1.1\r\nhost: here\r\ntransfer-encoding: chunked\r\n\r\n\
             5\r\nhello\r\n0\r\n\r\n"
        );
        let (status, head, _) = send(address, &request);
        assert_eq!(status, 200, "{method}");
        assert!(head.contains("x-body: hello\r\n"), "{method}: {head}");
    }
}

/// The length of an answer in chunks is that of the chunks, whatever its head says.
// Proves: N5-X-proxy.
#[test]
fn an_answer_in_chunks_passes_whole() {
    let backend = server(|_, _| {
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n\
         5\r\nhello\r\n0\r\n\r\n"
            .to_owned()
    });
    let (_proxy, address) = proxy(&[backend], &[]);
    let mut stream = connect(address);
    let request = b"GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
    stream.write_all(request).unwrap();
    let answer = peers::await_close(&stream);
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.contains("hello"), "{answer}");
    assert!(!answer.contains("content-length"), "{answer}");
}

/// A request names each proxy on its way, and a limited one goes no further than its limit.
// Proves: N5-X-proxy.
#[test]
fn forwards_are_named_and_counted() {
    let (_proxy, address) = proxy(&[mirror()], &[]);
    let ask = |method: &str, headers: &str| {
        let request = format!("{method} / HTTP/1.1\r\nhost: here\r\n{headers}\r\n");
        send(address, &request)
    };
    let (_, _, seen) = ask("GET", "via: 1.0 before\r\nmax-forwards: 0\r\n");
    // A limit is for OPTIONS and TRACE alone.
    for line in ["via: 1.0 before", "via: 1.1 proxy", "max-forwards: 0"] {
        assert!(seen.lines().any(|it| it == line), "no `{line}`: {seen}");
    }
    for (method, expected) in [("OPTIONS", 200), ("TRACE", 405)] {
        let (status, _, seen) = ask(method, "max-forwards: 3\r\n");
        assert_eq!(status, 200, "{method}");
        assert!(seen.contains("\r\nmax-forwards: 2\r\n"), "{seen}");
        let (status, head, text) = ask(method, "max-forwards: 0\r\n");
        assert_eq!(status, expected, "{method}: {text}");
        assert!(head.contains("\r\nallow: GET, "), "{head}");
        assert!(!text.contains("HTTP"), "it is passed on: {text}");
    }
}

// Proves: N5-X-proxy.
#[test]
fn what_is_not_served_is_not_passed_on() {
    let (_proxy, address) = proxy(&[mirror()], &[]);
    let tunnel = "CONNECT there:80 HTTP/1.1\r\nhost: there:80\r\n\r\n";
    let (status, head, _) = send(address, tunnel);
    assert_eq!(status, 405);
    assert!(head.contains("\r\nallow: GET, "), "{head}");
    for coding in ["gzip, chunked", "gzip\r\ntransfer-encoding: chunked"] {
        let request = format!(
            "POST / HTTP/1.1\r\nhost: here\r\ntransfer-encoding: {coding}\r\n\r\n0\r\n\r\n"
        );
        assert_eq!(send(address, &request).0, 501, "{coding}");
    }
}

/// Sends a request, and reads one byte of the answer. The system buffers little for this client.
fn stuck(address: SocketAddr) -> TcpStream {
    let mut stream = connect(address);
    rustix::net::sockopt::set_socket_recv_buffer_size(&stream, 32 << 10)
        .expect("a size that can be set");
    let request = b"GET /all HTTP/1.1\r\nhost: here\r\n\r\n";
    stream.write_all(request).expect("a proxy that reads");
    stream
        .read_exact(&mut [0])
        .expect("the beginning of an answer");
    stream
}

/// Waits until the proxy has no connection but that of the question.
fn await_no_connection(address: SocketAddr) {
    // 0A: it listens. 01: a connection.
    let port = format!(":{:04X} ", address.port());
    let start = Instant::now();
    loop {
        let sockets =
            std::fs::read_to_string("/proc/net/tcp").expect("a list of sockets");
        let is_open = |line: &str| {
            let mut fields = line.split_whitespace().skip(1);
            let own = fields
                .next()
                .is_some_and(|own| format!("{own} ").ends_with(&port));
            own && fields.nth(1) == Some("01")
        };
        if !sockets.lines().any(is_open) {
            return;
        }
        assert!(start.elapsed() < LIMIT, "the connection is open");
        thread::sleep(Duration::from_millis(10));
    }
}

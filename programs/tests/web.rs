//! `web`, tested with curl, wrk and sockets of the standard library.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod frames;
mod peers;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{iter, thread};

use frames::{Client, ping};
use peers::{
    LIMIT, Program, await_close, await_quiet, await_refusal, connect, listening, peer,
    run, trickle,
};
use rustix::net::sockopt::set_socket_recv_buffer_size;
use sha2::{Digest as _, Sha256};

fn serve(args: &[&str]) -> (Program, SocketAddr) {
    Program::serve(env!("CARGO_BIN_EXE_web"), args)
}

/// curl, with both protocols; it prints the version and the status after the body.
fn curls() -> Option<[Command; 2]> {
    let curl = |version: &str| {
        let mut curl = peer("curl", "curl")?;
        curl.args(["--silent", "--show-error", "--max-time", "60", version]);
        curl.args(["--write-out", " %{http_version} %{http_code}"]);
        Some(curl)
    };
    Some([curl("--http1.1")?, curl("--http2-prior-knowledge")?])
}

/// Returns the result of one request by curl with these arguments, without the version.
fn ask(curl: &Command, version: &str, args: &[&str]) -> String {
    let mut command = Command::new(curl.get_program());
    command.args(curl.get_args()).args(args);
    let said = run(&mut command, "");
    let (body, rest) = said
        .rsplit_once(&format!(" {version} "))
        .unwrap_or_else(|| panic!("{said}"));
    format!("{rest} {body}")
}

// Proves: N5-X-web.
#[test]
fn notes_are_kept_over_both_protocols() {
    let Some(curls) = curls() else { return };
    let (_server, address) = serve(&[]);
    for (curl, version) in curls.iter().zip(["1.1", "2"]) {
        let all = format!("http://{address}/notes");
        let milk = format!("{all}/milk");
        let ask = |args: &[&str]| ask(curl, version, args);
        assert_eq!(ask(&[&milk]), "404 ");
        assert_eq!(ask(&["-X", "PUT", "--data", "two", &milk]), "201 ");
        assert_eq!(ask(&["-X", "PUT", "--data", "three", &milk]), "204 ");
        assert_eq!(
            ask(&["-X", "PUT", "--data", "some", &format!("{all}/a%20loaf")]),
            "201 "
        );
        assert_eq!(ask(&[&milk]), "200 three");
        assert_eq!(ask(&[&all]), "200 a loaf\nmilk\n");
        assert_eq!(ask(&["-X", "DELETE", &milk]), "204 ");
        assert_eq!(ask(&["-X", "DELETE", &milk]), "404 ");
        assert_eq!(ask(&["-X", "DELETE", &format!("{all}/a%20loaf")]), "204 ");
        assert_eq!(ask(&["-X", "POST", &all]), "405 ");
        assert_eq!(
            ask(&[&format!("http://{address}/primes/10000")]),
            "200 1229"
        );
        assert_eq!(
            ask(&[&format!("http://{address}/primes/10000001")]),
            "422 no more than 10000000"
        );
    }
}

// Proves: N5-X-web.
#[test]
fn long_bodies_come_whole() {
    let Some(curls) = curls() else { return };
    let (server, address) = serve(&[]);
    let body: Vec<u8> = (0..24_000_000_u32).map(|i| (i ^ i >> 8) as u8).collect();
    let sum: String = Sha256::digest(&body)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    let file = std::env::temp_dir().join(format!("pirn-web-{}", std::process::id()));
    std::fs::write(&file, &body).unwrap();
    let data = format!("@{}", file.display());
    for (curl, version) in curls.iter().zip(["1.1", "2"]) {
        let digest = format!("http://{address}/digest");
        let said = ask(
            curl,
            version,
            &["--header", "expect:", "--data-binary", &data, &digest],
        );
        assert_eq!(said, format!("200 {sum}"));
    }
    std::fs::remove_file(&file).unwrap();
    // A body is not buffered, whatever its length.
    assert!(server.memory() < 20_000_000, "{} bytes", server.memory());
}

/// Waiting requests delay no other: many at once over two connections. One after the other they
/// would take minutes.
// Proves: N5-X-web.
#[test]
fn one_connection_has_many_requests_at_once() {
    let Some(mut h2load) = peer("h2load", "nghttp2-client") else {
        return;
    };
    let (_server, address) = serve(&[]);
    h2load
        .args(["-n", "400", "-c", "2", "-m", "100"])
        .arg(format!("http://{address}/later/1000"));
    let said = run(&mut h2load, "");
    assert!(
        said.contains("400 succeeded, 0 failed, 0 errored"),
        "{said}"
    );
    assert!(said.contains("status codes: 400 2xx"), "{said}");
}

// Proves: N5-X-web.
#[test]
fn a_load_is_answered() {
    let Some(mut wrk) = peer("wrk", "wrk") else {
        return;
    };
    let (_server, address) = serve(&[]);
    wrk.args(["-t1", "-c50", "-d1s"])
        .arg(format!("http://{address}/notes"));
    let said = run(&mut wrk, "");
    assert!(said.contains("requests in"), "{said}");
    assert!(
        !said.contains("Socket errors") && !said.contains("Non-2xx"),
        "{said}"
    );
}

/// Writes a request and returns the whole answer, up to the end of the connection.
fn converse(mut stream: TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A request, after which the connection is kept.
fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: here\r\n\r\n").into_bytes()
}

/// At shutdown the server answers all requests that it has begun, and accepts no more.
// Proves: N5-X-web.
#[test]
fn what_was_asked_before_the_end_is_answered() {
    let (server, address) = serve(&["--grace", "60"]);
    let kept = || {
        let mut stream = connect(address);
        stream.write_all(&get("/notes")).unwrap();
        assert!(stream.read(&mut [0; 200]).unwrap() > 0);
        stream
    };
    // Idle keep-alive connections do not delay the shutdown.
    let (mut asked, mut idle) = ((0..20).map(|_| kept()).collect::<Vec<_>>(), kept());
    for stream in &mut asked {
        stream.write_all(&get("/later/3000")).unwrap();
    }
    // Requests that have not been read by then would not be answered.
    await_quiet(address);
    server.terminate();
    await_refusal(address);
    for stream in asked {
        let answer = converse(stream, "");
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("late"),
            "{answer}"
        );
    }
    assert_eq!(idle.read(&mut [0]).unwrap(), 0);
    let ended = server.end();
    assert!(ended.status.success(), "{}", ended.status);
}

/// The same over HTTP/2, on one connection.
// Proves: N5-X-web.
#[test]
fn what_was_asked_at_once_before_the_end_is_answered() {
    let (server, address) = serve(&["--grace", "60"]);
    let mut client = Client::connect(address, &[]);
    (0..20).for_each(|n| client.get(2 * n + 1, "/later/3000"));
    client.stream().write_all(&ping()).unwrap();
    while !client.next().expect("an answer").is_pong() {}
    server.terminate();
    await_refusal(address);
    let (mut ok, mut ended) = (0, 0);
    while let Some(frame) = client.next() {
        ok += u32::from(frame.is_ok());
        ended += u32::from(frame.ends_stream());
    }
    assert_eq!((ok, ended), (20, 20));
    let ended = server.end();
    assert!(ended.status.success(), "{}", ended.status);
}

/// The limit applies to the whole head, not to each read, in either protocol.
// Proves: N5-X-web.
#[test]
fn the_head_has_one_limit() {
    let (_server, address) = serve(&["--patience", "3"]);
    let starts = [
        &b"P"[..],
        b"PRI * HT",
        frames::PREFACE,
        b"GET /notes HTTP/1.1\r\n",
    ];
    let stuck = starts.map(|start| {
        let mut stream = connect(address);
        stream.write_all(start).unwrap();
        stream
    });
    // All frames are valid, and none is a request.
    let mut polite = Client::connect(address, &[]);
    let pings = Client::connect(address, &[]);
    let slow = connect(address);
    thread::scope(|s| {
        s.spawn(|| while polite.next().is_some() {});
        s.spawn(|| trickle(pings.stream(), ping().into_iter().cycle()));
        let head = b"GET /notes HTTP/1.1\r\nx: ".iter().copied();
        s.spawn(|| trickle(&slow, head.chain(iter::repeat(b'y'))));
        stuck.iter().for_each(|stream| drop(await_close(stream)));
    });
    // A used connection has the same limit.
    let mut used = Client::connect(address, &[]);
    used.get(1, "/notes");
    let mut answers = 0;
    while let Some(frame) = used.next() {
        answers += usize::from(frame.is_ok());
    }
    assert_eq!(answers, 1);
}

// Proves: N5-X-web.
#[test]
fn bodies_have_one_limit() {
    let (_server, address) = serve(&["--body", "3"]);
    let begun = |first: &str| {
        let mut stream = connect(address);
        let head = "HTTP/1.1\r\nhost: here\r\ncontent-length: 10000\r\n\r\n";
        write!(stream, "{first} {head}beginning").unwrap();
        stream
    };
    let (digest, note, slow) = (
        begun("POST /digest"),
        begun("PUT /notes/a"),
        begun("POST /digest"),
    );
    trickle(&slow, iter::repeat(b'y'));
    for stream in [digest, note] {
        let answer = await_close(&stream);
        assert!(answer.starts_with(b"HTTP/1.1 408 "), "{answer:?}");
    }
}

/// Even if it sends acknowledgements.
// Proves: N5-X-web.
#[test]
fn a_client_that_reads_no_answer_is_cut_off() {
    let (_server, address) = serve(&["--body", "3", "--patience", "600"]);
    let text = "x".repeat(60_000);
    let said = put(address, "long", &text);
    assert!(said.starts_with("HTTP/1.1 201"), "{said}");
    // Its window has no space for a body.
    let mut client = Client::connect(address, &[0, 4, 0, 0, 0, 0]);
    client.get(1, "/notes/long");
    let mut heads = 0;
    while let Some(frame) = client.next() {
        heads += usize::from(frame.is_head());
    }
    assert_eq!(heads, 1);
}

/// The same over HTTP/1.1, by an answer that is longer than the buffers of the server.
// Proves: N5-X-web.
#[test]
fn a_client_that_reads_no_long_answer_is_cut_off() {
    let (_server, address) = serve(&["--body", "3", "--patience", "20"]);
    let mut stream = connect(address);
    put_names(&mut stream, 150);
    // Three megabytes each, and all of them more than the sockets hold.
    stream.write_all(&get("/notes").repeat(20)).unwrap();
    // It sends, and does not read.
    trickle(&stream, iter::repeat(b'G'));
}

/// Stores this number of empty notes with names of more than 20,000 bytes.
fn put_names(stream: &mut TcpStream, count: usize) {
    for n in 0..count {
        let name = format!("{n}-{}", "x".repeat(20_000));
        let put =
            format!("PUT /notes/{name} HTTP/1.1\r\nhost: here\r\ncontent-length: 0");
        stream
            .write_all(format!("{put}\r\n\r\n").as_bytes())
            .unwrap();
        assert!(stream.read(&mut [0; 200]).unwrap() > 0);
    }
}

/// All lists of names that clients have not read take at most as many bytes as all notes may.
// Proves: N5-X-web.
#[test]
fn lists_that_are_not_read_are_bounded() {
    let (_server, address) = serve(&["--notes", "16000000", "--body", "600"]);
    // Twelve megabytes: more than the sockets hold.
    put_names(&mut connect(address), 600);
    let request = "GET /notes HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
    let mut stuck = connect(address);
    set_socket_recv_buffer_size(&stuck, 32 << 10).expect("a size that can be set");
    stuck.write_all(request.as_bytes()).unwrap();
    let mut status = [0; 12];
    stuck.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
    for _ in 0..10 {
        let answer = converse(connect(address), request);
        assert!(
            answer.starts_with("HTTP/1.1 503 ") && answer.contains("retry-after: 1\r\n"),
            "{answer:.200}"
        );
    }
    // The list is whole. Then others get it, too.
    let list = converse(stuck, "");
    assert!(list.len() > 12_000_000, "{} bytes", list.len());
    let start = Instant::now();
    while !converse(connect(address), request).starts_with("HTTP/1.1 200 ") {
        assert!(start.elapsed() < LIMIT, "the bytes are not free");
    }
}

/// Stores a note; returns the whole answer.
fn put(address: SocketAddr, name: &str, text: &str) -> String {
    let length = text.len();
    let head = format!(
        "PUT /notes/{name} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\
         content-length: {length}"
    );
    converse(connect(address), &format!("{head}\r\n\r\n{text}"))
}

/// Notes that are replaced or deleted make room for others.
// Proves: N5-X-web.
#[test]
fn all_notes_together_are_bounded() {
    let (_server, address) = serve(&["--notes", "20000"]);
    let status = |name: &str, size: usize| {
        let answer = put(address, name, &"x".repeat(size));
        assert!(
            !answer.starts_with("HTTP/1.1 507") || answer.contains("20000 bytes"),
            "{answer}"
        );
        answer[9..12].to_owned()
    };
    assert_eq!(status("a", 12_000), "201");
    assert_eq!(status("b", 12_000), "507");
    assert_eq!(status("a", 19_990), "507");
    assert_eq!(status("a", 1), "204");
    assert_eq!(status("b", 12_000), "201");
    assert_eq!(status("c", 12_000), "507");
    let delete = "DELETE /notes/b HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
    assert!(converse(connect(address), delete).starts_with("HTTP/1.1 204"));
    assert_eq!(status("c", 12_000), "201");
    // Each counts for more than its text and its name.
    let stored = (0..1_000).take_while(|n| status(&format!("d{n}"), 0) == "201");
    assert!(stored.count() < 200);
}

/// In the list of all names it would be several.
// Proves: N5-X-web.
#[test]
fn a_name_is_one_line() {
    let (_server, address) = serve(&[]);
    for name in ["a%0Ab", "a%0Db", "%00", "%C2%85"] {
        let answer = put(address, name, "x");
        assert!(answer.starts_with("HTTP/1.1 400"), "{name}: {answer}");
    }
    let all = "GET /notes HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
    let answer = converse(connect(address), all);
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
}

/// A bounded number of requests compute at once; others wait, or are refused: memory is bounded.
// Proves: N5-X-web.
#[test]
fn computing_is_bounded() {
    let mut web = listening(env!("CARGO_BIN_EXE_web"));
    web.args(["--computing", "1", "--waiting", "3"]);
    // The allocator keeps memory in an arena for each thread that has computed. Here it has one.
    let (server, address) = Program::serve_by(web.env("MALLOC_ARENA_MAX", "1"));
    let mut client = Client::connect(address, &[]);
    let requests = 200;
    for n in 0..requests {
        client.get(2 * n + 1, "/primes/10000000");
    }
    let (mut ended, mut ok) = (0, 0);
    while ended < requests {
        let frame = client.next().expect("an answer to each");
        ended += u32::from(frame.ends_stream());
        ok += u32::from(frame.is_ok());
    }
    assert!((1..requests).contains(&ok), "{ok} answers");
    let peak = server.peak_memory();
    assert!(peak < 60_000_000, "{peak} bytes");
    let fine = "GET /primes/100 HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
    assert!(converse(connect(address), fine).ends_with("25"));
}

// Proves: N5-X-web.
#[test]
fn a_refused_request_may_be_repeated() {
    let (_server, address) = serve(&["--computing", "1", "--waiting", "0"]);
    let many = "GET /primes/10000000 HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
    let asked: Vec<_> = (0..20)
        .map(|_| {
            let mut stream = connect(address);
            stream.write_all(many.as_bytes()).unwrap();
            stream
        })
        .collect();
    let answers: Vec<_> = asked.into_iter().map(|s| converse(s, "")).collect();
    let mut refused = answers.iter().filter(|a| a.starts_with("HTTP/1.1 503 "));
    assert!(refused.clone().count() > 0, "{answers:?}");
    assert!(
        refused.all(|a| a.contains("retry-after: 1\r\n")),
        "{answers:?}"
    );
    assert!(answers.iter().any(|a| a.ends_with("664579")), "{answers:?}");
}

/// They would compute for another minute.
// Proves: N5-X-web.
#[test]
fn what_computes_does_not_put_off_the_end() {
    let (server, address) = serve(&["--grace", "1", "--computing", "1000"]);
    let mut clients: Vec<_> = (0..3).map(|_| Client::connect(address, &[])).collect();
    for client in &mut clients {
        (0..200).for_each(|n| client.get(2 * n + 1, "/primes/10000000"));
    }
    // Each takes 10 MB, which shows that they have begun.
    let start = Instant::now();
    while server.memory() < 100_000_000 {
        assert!(start.elapsed() < LIMIT, "nothing computes");
        thread::sleep(Duration::from_millis(2));
    }
    server.terminate();
    assert_eq!(server.end().status.code(), Some(1));
}

// Proves: N5-X-web.
#[test]
fn a_request_names_one_host() {
    let (_server, address) = serve(&[]);
    let status = |version: &str, hosts: &str| {
        let request =
            format!("GET /notes HTTP/{version}\r\nconnection: close\r\n{hosts}\r\n");
        let answer = converse(connect(address), &request);
        answer.get(9..12).map(str::to_owned).unwrap_or(answer)
    };
    assert_eq!(status("1.1", "host: here\r\n"), "200");
    assert_eq!(status("1.1", "host: [::1]:80\r\n"), "200");
    assert_eq!(status("1.1", "host:\r\n"), "200");
    assert_eq!(status("1.0", ""), "200");
    assert_eq!(status("1.1", ""), "400");
    assert_eq!(status("1.1", "host: here\r\nhost: there\r\n"), "400");
    assert_eq!(status("1.1", "host: here\r\nhost: here\r\n"), "400");
    assert_eq!(status("1.0", "host: here\r\nhost: there\r\n"), "400");
    assert_eq!(status("1.1", "host: here, there\r\n"), "400");
    assert_eq!(status("1.1", "host: a/b\r\n"), "400");
}

/// A client that sends nothing, or nonsense, or disconnects early, affects no other.
// Proves: N5-X-web.
#[test]
fn bad_clients_are_cut_off() {
    let (server, address) = serve(&["--patience", "1"]);
    let silent = connect(address);
    let mut slow = connect(address);
    slow.write_all(b"GET /notes HTTP/1.1\r\nhost:").unwrap();
    let mut leaves = connect(address);
    leaves
        .write_all(b"GET /later/60000 HTTP/1.1\r\nhost: here\r\n\r\n")
        .unwrap();
    drop(leaves);
    let nonsense = converse(connect(address), "NONSENSE\r\n\r\n");
    assert!(nonsense.starts_with("HTTP/1.1 400"), "{nonsense}");
    let fine = "GET /notes HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
    assert!(converse(connect(address), fine).starts_with("HTTP/1.1 200"));
    for mut late in [silent, slow] {
        // The time limit has passed: the connection ends, with an answer or without.
        late.read_to_end(&mut Vec::new()).unwrap();
    }
    server.terminate();
    let ended = server.end();
    assert!(ended.status.success(), "{}", ended.status);
}

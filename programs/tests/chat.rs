//! `chat`, with WebSockets over sockets of the standard library, and with curl.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod peers;

use std::io::{ErrorKind, Read as _, Write as _};
use std::iter;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use peers::{LIMIT, Program, await_close, connect, listening, peer, trickle};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Error, Message, WebSocket};

type Client = WebSocket<TcpStream>;

fn serve(args: &[&str]) -> (Program, SocketAddr) {
    Program::serve(env!("CARGO_BIN_EXE_chat"), args)
}

/// A member of a room: it receives its own messages too, which shows that it has joined.
fn enter(address: SocketAddr, room: &str) -> Client {
    let url = format!("ws://{address}/{room}");
    let (mut client, _) = tungstenite::client(url, connect(address)).unwrap();
    say(&mut client, "I am here");
    while hear(&mut client) != "I am here" {}
    client
}

fn say(client: &mut Client, text: &str) {
    client.send(Message::text(text)).unwrap();
}

/// Returns the next message.
///
/// # Panics
/// If none comes within [`LIMIT`], though pings may.
fn hear(client: &mut Client) -> String {
    let start = Instant::now();
    loop {
        if let Message::Text(text) = client.read().unwrap() {
            return text.to_string();
        }
        assert!(start.elapsed() < LIMIT, "no message");
    }
}

// Proves: N5-X-chat.
#[test]
fn all_members_of_a_room_get_each_message() {
    let (_server, address) = serve(&[]);
    let mut kitchen: Vec<_> = (0..5).map(|_| enter(address, "kitchen")).collect();
    let mut cellar = enter(address, "cellar");
    say(&mut kitchen[0], "hello");
    for client in &mut kitchen {
        let mut heard = hear(client);
        while heard == "I am here" {
            heard = hear(client);
        }
        assert_eq!(heard, "hello");
    }
    say(&mut cellar, "one more line");
    assert_eq!(hear(&mut cellar), "one more line");
}

// Proves: N5-X-chat.
#[test]
fn all_hear_everything_in_one_order() {
    let (_server, address) = serve(&[]);
    let (speakers, rounds, times) = (4, 12, 8);
    let clients: Vec<_> = (0..speakers).map(|_| enter(address, "room")).collect();
    let heard: Vec<Vec<String>> = thread::scope(|s| {
        let listen = |(number, mut client): (usize, Client)| {
            s.spawn(move || {
                let mut all = Vec::new();
                for round in 1..=rounds {
                    for n in 0..times {
                        say(&mut client, &format!("{number} says {n}"));
                    }
                    // No client is more than a round ahead of another. So the outbox of each has
                    // room for what is on its way, 60 messages, and none is cut off, however long
                    // the fiber that empties the outbox waits for its worker.
                    while all.len() < round * speakers * times {
                        let text = hear(&mut client);
                        all.extend(Some(text).filter(|text| text != "I am here"));
                    }
                }
                all
            })
        };
        let clients: Vec<_> = clients.into_iter().enumerate().map(listen).collect();
        clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .collect()
    });
    assert_eq!(heard[0].len(), speakers * rounds * times);
    for other in &heard[1..] {
        assert!(*other == heard[0], "another order");
    }
}

// Proves: N5-X-chat.
#[test]
fn pings_go_both_ways() {
    let (_server, address) = serve(&["--ping", "1"]);
    let mut client = enter(address, "room");
    client.send(Message::Ping("are you there?".into())).unwrap();
    let answer = client.read().unwrap();
    assert_eq!(answer, Message::Pong("are you there?".into()));
    // It is pinged too, as there are no messages; and answers inside `read`.
    assert!(matches!(client.read().unwrap(), Message::Ping(_)));
    assert!(matches!(client.read().unwrap(), Message::Ping(_)));
    assert!(matches!(client.read().unwrap(), Message::Ping(_)));
    say(&mut client, "still here");
    assert_eq!(hear(&mut client), "still here");
}

/// A client that sends nothing is pinged amid the messages that it receives, and stays.
// Proves: N5-X-chat.
#[test]
fn a_client_that_only_listens_stays() {
    let (_server, address) = serve(&["--ping", "2"]);
    let mut listener = enter(address, "room");
    let mut speaker = enter(address, "room");
    let listener = thread::spawn(move || while hear(&mut listener) != "over" {});
    let start = Instant::now();
    // Longer than a silent client may stay.
    while start.elapsed() < Duration::from_secs(7) {
        say(&mut speaker, "on and on");
        // Its pings are answered inside.
        while hear(&mut speaker) != "on and on" {}
        thread::sleep(Duration::from_millis(200));
    }
    say(&mut speaker, "over");
    listener.join().unwrap();
}

// Proves: N5-X-chat.
#[test]
fn a_silent_client_is_taken_for_gone() {
    let (_server, address) = serve(&["--ping", "1"]);
    let mut client = enter(address, "room");
    // It reads, and answers nothing.
    let mut buffer = [0; 100];
    while client.get_mut().read(&mut buffer).unwrap() > 0 {}
    // So is a client that sends nothing at all.
    assert_eq!(connect(address).read(&mut buffer).unwrap(), 0);
}

// Proves: N5-X-chat.
#[test]
fn an_interval_without_end_is_refused() {
    let mut chat = listening(env!("CARGO_BIN_EXE_chat"));
    chat.args(["--ping", "18446744073709551615"]);
    let mut chat = Program::start(chat.stderr(Stdio::piped()));
    assert_eq!(chat.line(), "", "it listens");
    let ended = chat.end();
    assert_eq!(ended.status.code(), Some(2), "{}", ended.errors);
    assert!(ended.errors.contains("at most"), "{}", ended.errors);
}

// Proves: N5-X-chat.
#[test]
fn a_slow_reader_is_cut_off() {
    let (server, address) = serve(&[]);
    let mut slow = enter(address, "room");
    let mut fast = enter(address, "room");
    let text = "x".repeat(60_000);
    let start = Instant::now();
    let mut said = 0;
    // Until the other one has been cut off, which is visible only in the server's memory: more than
    // its sockets and its outbox can hold.
    while said < 500 {
        said += 1;
        say(&mut fast, &text);
        assert_eq!(hear(&mut fast).len(), text.len());
        assert!(start.elapsed() < LIMIT, "it takes too long");
    }
    assert!(server.memory() < 100 << 20, "{} bytes", server.memory());
    let mut heard = 0;
    let ended = loop {
        match slow.read() {
            Ok(message) => heard += usize::from(message.len() == text.len()),
            Err(ended) => break ended,
        }
        assert!(start.elapsed() < LIMIT, "it may stay");
    };
    let waits = |error: &std::io::Error| {
        matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
    };
    assert!(
        !matches!(&ended, Error::Io(error) if waits(error)),
        "it may stay"
    );
    assert!(heard < said, "it heard all {heard}");
    say(&mut fast, "without it");
    assert_eq!(hear(&mut fast), "without it");
}

// Proves: N5-X-chat.
#[test]
fn what_is_no_websocket_ends_its_connection_only() {
    let (_server, address) = serve(&[]);
    let mut client = enter(address, "room");
    let mut answer = Vec::new();
    let mut plain = connect(address);
    plain
        .write_all(b"\x16\x03\x01 no HTTP at all\r\n\r\n")
        .unwrap();
    plain.read_to_end(&mut answer).unwrap_or_default();
    // Too much at once.
    let mut loud = enter(address, "room");
    let _ = loud.send(Message::text("x".repeat(100_000)));
    while loud.read().is_ok() {}
    say(&mut client, "unharmed");
    let heard = hear(&mut client);
    assert!(heard == "I am here" && hear(&mut client) == "unharmed");
}

/// Each kind of error has its code in the close frame, and other clients continue to receive.
// Proves: N5-X-chat.
#[test]
fn a_goodbye_says_what_was_wrong() {
    let (_server, address) = serve(&[]);
    let mut client = enter(address, "room");
    // Not masked; not UTF-8; more than the server accepts.
    let long = [
        &[0x81, 0xff, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0][..],
        &[b'x'; 65_537],
    ]
    .concat();
    let faults: [(&[u8], CloseCode); 4] = [
        (b"\x81\x01x", CloseCode::Protocol),
        (b"\x81\x81\0\0\0\0\xff", CloseCode::Invalid),
        (&long, CloseCode::Size),
        // A continuation without a start.
        (b"\x80\x81\0\0\0\0x", CloseCode::Protocol),
    ];
    for (fault, code) in faults {
        let mut wrong = enter(address, "room");
        wrong.get_mut().write_all(fault).unwrap();
        let goodbye = loop {
            match wrong.read().unwrap() {
                Message::Close(goodbye) => break goodbye,
                Message::Text(text) => assert_eq!(text.as_str(), "I am here"),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(goodbye.map(|goodbye| goodbye.code), Some(code), "{fault:?}");
    }
    say(&mut client, "unharmed");
    while hear(&mut client) != "unharmed" {}
}

/// A client that is refused while it sends receives the reason and an orderly end, not a reset.
// Proves: N5-X-chat.
#[test]
fn a_refused_client_is_not_reset() {
    let (_server, address) = serve(&[]);
    let mut member = enter(address, "room");
    // A message of 64 MiB is announced, and a part of it follows.
    let mut long = vec![0x81, 0xff, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0];
    long.resize(4 << 20, b'x');
    assert_eq!(
        converse(member.get_mut(), &long),
        b"\x88\x0a\x03\xf1too long"
    );
    let mut wrong = b"POST /room HTTP/1.1\r\nhost: here\r\n\r\n".to_vec();
    wrong.resize(4 << 20, b'x');
    let answer = converse(&mut connect(address), &wrong);
    assert!(answer.starts_with(b"HTTP/1.1 405 "), "{answer:?}");
}

/// Sends everything, and receives what comes until an orderly end.
fn converse(stream: &mut TcpStream, bytes: &[u8]) -> Vec<u8> {
    stream.write_all(bytes).expect("a server that reads on");
    stream.shutdown(Shutdown::Write).expect("a connection");
    let mut answer = Vec::new();
    stream
        .read_to_end(&mut answer)
        .expect("an end without a reset");
    answer
}

/// The headers of a valid handshake; the last line is the key.
const HEADERS: [&str; 5] = [
    "Host: here.example",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

/// Returns the status and the headers of the answer to a request, in lower case.
fn ask(address: SocketAddr, first: &str, headers: &[&str]) -> (u16, String) {
    let mut stream = connect(address);
    let request = format!("{first}\r\n{}\r\n\r\n", headers.join("\r\n"));
    stream.write_all(request.as_bytes()).unwrap();
    // A client that is accepted would stay.
    stream.shutdown(Shutdown::Write).unwrap();
    let answer = String::from_utf8_lossy(&await_close(&stream)).to_lowercase();
    let status = answer.strip_prefix("http/1.1 ").and_then(|a| a.get(..3));
    let status = status.and_then(|status| status.parse().ok());
    (
        status.unwrap_or_else(|| panic!("{first}: {answer:?}")),
        answer,
    )
}

// Proves: N5-X-chat.
#[test]
fn a_wrong_handshake_is_answered() {
    let (_server, address) = serve(&[]);
    let get = "GET /room HTTP/1.1";
    let without = |name: &str| {
        let mut headers = HEADERS.to_vec();
        headers.retain(|header| !header.starts_with(name));
        headers
    };
    assert_eq!(ask(address, get, &HEADERS).0, 101);
    for name in ["Upgrade", "Connection", "Sec-WebSocket-Version"] {
        let (status, answer) = ask(address, get, &without(name));
        assert_eq!(status, 426, "{answer}");
        for header in [
            "\r\nsec-websocket-version: 13\r\n",
            "\r\nupgrade: websocket\r\n",
        ] {
            assert!(answer.contains(header), "{answer}");
        }
    }
    let mut old = without("Sec-WebSocket-Version");
    old.push("Sec-WebSocket-Version: 8");
    assert_eq!(ask(address, get, &old).0, 426);
    assert_eq!(ask(address, get, &without("Sec-WebSocket-Key")).0, 400);
    assert_eq!(ask(address, get, &without("Host")).0, 400);
    assert_eq!(ask(address, "POST /room HTTP/1.1", &HEADERS).0, 405);
    assert_eq!(ask(address, "NONSENSE", &[]).0, 400);
    let many = vec!["a: b"; 200];
    assert_eq!(ask(address, get, &many).0, 431);
}

// Proves: N5-X-chat.
#[test]
fn a_handshake_has_one_key_of_16_bytes() {
    let (_server, address) = serve(&[]);
    let get = "GET /room HTTP/1.1";
    // Nothing; too short; without padding; 17 bytes; not in base64.
    for key in [
        "",
        "c2hvcnQ=",
        "dGhlIHNhbXBsZSBub25jZQ",
        "dGhlIHNhbXBsZSBub25jZSE=",
        "dGhlIHNhbXBsZSBub25j!!==",
    ] {
        let line = format!("Sec-WebSocket-Key: {key}");
        let mut headers = HEADERS;
        headers[4] = &line;
        assert_eq!(ask(address, get, &headers).0, 400, "{key}");
    }
    let twice = [&HEADERS[..], &HEADERS[4..]].concat();
    assert_eq!(ask(address, get, &twice).0, 400);
}

/// A page of another site would use the user's rights.
// Proves: N5-X-chat.
#[test]
fn pages_of_other_sites_are_refused() {
    let origin = |scheme: &str, host: &str| format!("{scheme}://{host}");
    let status = |address, host: &str, origin: &str| {
        let (host, origin) = (format!("Host: {host}"), format!("Origin: {origin}"));
        let mut headers = HEADERS.to_vec();
        headers[0] = &host;
        headers.push(&origin);
        ask(address, "GET /room HTTP/1.1", &headers).0
    };
    let (_server, own) = serve(&[]);
    for (host, scheme, page) in [
        ("here.example", "https", "here.example"),
        ("here.example:443", "https", "HERE.example"),
        ("127.0.0.1:7080", "http", "127.0.0.1:7080"),
    ] {
        assert_eq!(status(own, host, &origin(scheme, page)), 101, "{page}");
    }
    for other in [
        &origin("https", "there.example"),
        &origin("https", "here.example.there.example"),
        &origin("http", "here.example:8080"),
        "null",
        "here.example",
        "",
    ] {
        assert_eq!(status(own, "here.example", other), 403, "{other}");
    }
    let (a, b) = (origin("https", "a.example"), origin("https", "b.example"));
    let (_server, listed) = serve(&["--origin", &a, "--origin", &b]);
    assert_eq!(status(listed, "here.example", &a), 101);
    assert_eq!(status(listed, "here.example", &b), 101);
    // These only.
    let own = origin("https", "here.example");
    assert_eq!(status(listed, "here.example", &own), 403);
    let (_server, any) = serve(&["--origin", "*"]);
    let there = origin("https", "there.example");
    assert_eq!(status(any, "here.example", &there), 101);
}

/// One limit applies to the whole handshake.
// Proves: N5-X-chat.
#[test]
fn a_handshake_that_trickles_is_cut_off() {
    let (_server, address) = serve(&["--handshake", "3"]);
    let silent = connect(address);
    let mut client = enter(address, "room");
    let slow = connect(address);
    let head = b"GET /room HTTP/1.1\r\nx: ".iter().copied();
    trickle(&slow, head.chain(iter::repeat(b'y')));
    let answer = await_close(&silent);
    assert!(answer.starts_with(b"HTTP/1.1 408"), "{answer:?}");
    // The time ends with the handshake.
    say(&mut client, "still here");
    assert_eq!(hear(&mut client), "still here");
}

/// A client without a handshake does not delay the shutdown.
// Proves: N5-X-chat.
#[test]
fn the_end_waits_for_no_handshake() {
    let (server, address) = serve(&["--handshake", "600", "--grace", "600"]);
    let _silent = connect(address);
    // Connections are accepted in order: the first is accepted when the second is served.
    drop(enter(address, "room"));
    server.terminate();
    assert!(server.end().status.success());
}

// Proves: N5-X-chat.
#[test]
fn all_waiters_are_notified_of_the_end() {
    let (server, address) = serve(&[]);
    let mut clients: Vec<_> = (0..3).map(|n| enter(address, &n.to_string())).collect();
    server.terminate();
    for client in &mut clients {
        let Message::Close(Some(frame)) = client.read().unwrap() else {
            panic!("no goodbye");
        };
        assert_eq!(frame.code, CloseCode::Away);
        // The close frame is answered inside.
        assert!(matches!(client.read(), Err(Error::ConnectionClosed)));
    }
    drop(clients);
    assert!(server.end().status.success());
}

// Proves: N5-X-chat.
#[test]
fn curl_is_let_in() {
    let Some(mut curl) = peer("curl", "curl") else {
        return;
    };
    // curl prints the headers when something follows them.
    let (_server, address) = serve(&["--ping", "1"]);
    curl.args(["--silent", "--include", "--no-buffer", "--http1.1"]);
    for header in [
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ] {
        curl.args(["--header", header]);
    }
    let mut curl = Program::start(curl.arg(format!("http://{address}/room")));
    assert_eq!(curl.line(), "HTTP/1.1 101 Switching Protocols");
    let mut headers = Vec::new();
    while headers.last().is_none_or(|line: &String| !line.is_empty()) {
        headers.push(curl.line().to_lowercase());
    }
    // The key's answer, as the standard has it.
    let accept = "sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=";
    assert!(headers.iter().any(|line| line == accept), "{headers:?}");
}

//! `fetch` with servers that send answers that are not files or end too early, and with names that
//! could collide: a file is right, or the program fails and leaves nothing.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the tests are plain threads"
)]

mod downloads;
mod peers;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use downloads::{chunked, command, content, fetch, listing, raw, server, write};
use peers::{LIMIT, Program, directory};
use rustix::net::sockopt::set_socket_linger;
use rustix::process::Signal;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The length of the first version of the file, and how much of it comes at first.
const LEN: usize = 100_000;
const HALF: usize = 40_000;

const TAG: &str = "ETag: \"v1\"\r\n";

/// Answers that are permanently not the file are refused at once, with a message.
// Proves: N5-X-fetch.
#[test]
fn answers_of_another_kind_are_refused() {
    let gzip = "Content-Length: 4\r\nContent-Encoding: gzip\r\n";
    let cases = [
        (
            "1.1 206 Partial Content",
            "Content-Length: 4\r\nContent-Range: bytes 0-3/8\r\n",
            "206",
        ),
        (
            "1.1 206 Partial Content",
            "Content-Length: 4\r\nContent-Range: bytes 0-3/4\r\n",
            "206",
        ),
        (
            "1.1 416 Range Not Satisfiable",
            "Content-Length: 4\r\n",
            "416",
        ),
        ("1.1 204 No Content", "", "204"),
        ("1.1 200 OK", gzip, "\"gzip\""),
        ("1.1 200 OK", "Transfer-Encoding: gzip\r\n", "\"gzip\""),
        (
            "1.1 200 OK",
            "Transfer-Encoding: gzip, chunked\r\n",
            "Transfer-Encoding",
        ),
        (
            "1.0 200 OK",
            "Transfer-Encoding: chunked\r\n",
            "Transfer-Encoding",
        ),
    ];
    for (case, (status, head, why)) in cases.into_iter().enumerate() {
        let directory = directory(&format!("answers_of_another_kind/{case}"));
        let (address, requests) = server(move |_, _, stream| {
            raw(
                stream,
                &format!("HTTP/{status}\r\n{head}"),
                b"4\r\nfour\r\n0\r\n\r\n",
            );
        });
        let (code, sums, said) = fetch(&directory, &[&format!("http://{address}/file")]);
        assert_eq!(
            (code, sums.as_str()),
            (Some(1), ""),
            "{status} {head}: {said}"
        );
        assert!(said.contains(why), "{said}");
        assert!(listing(&directory).is_empty(), "{status} {head}");
        assert_eq!(requests.try_iter().count(), 1, "{status} {head}");
    }
    let directory = directory("answers_of_another_kind/several_parts");
    let (address, requests) = server(|n, _, stream| match n {
        0 => write(stream, "200 OK", TAG, LEN, &[b'x'; HALF]),
        _ => {
            let head = "Content-Type: Multipart/ByteRanges; boundary=b\r\n\
                        Content-Range: bytes 40000-99999/100000\r\nETag: \"v1\"\r\n";
            write(
                stream,
                "206 Partial Content",
                head,
                LEN - HALF,
                &[b'y'; LEN - HALF],
            );
        }
    });
    let (code, _, said) = fetch(&directory, &[&format!("http://{address}/file")]);
    assert!(
        code == Some(1) && said.contains("multipart/byteranges"),
        "{said}"
    );
    assert!(listing(&directory).is_empty());
    assert_eq!(requests.try_iter().count(), 2);
}

/// Bodies with lengths that contradict their heads are refused.
// Proves: N5-X-fetch.
#[test]
fn contradictory_lengths_are_refused() {
    let short: Vec<u8> = chunked(b"four");
    let cases = [
        (
            "Content-Length: 4\r\nContent-Length: 5\r\n",
            b"fourfive".to_vec(),
        ),
        ("Content-Length: 4, 5\r\n", b"fourfive".to_vec()),
        ("Content-Length: -4\r\n", b"fourfive".to_vec()),
        ("Content-Length: 0x4\r\n", b"fourfive".to_vec()),
        (
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            short.clone(),
        ),
        ("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", short),
        ("Transfer-Encoding: chunked\r\n", b"4\r\nfour\r\n".to_vec()),
    ];
    for (case, (head, body)) in cases.into_iter().enumerate() {
        let directory = directory(&format!("contradictory_lengths/{case}"));
        let (address, _) = server(move |_, _, stream| {
            raw(stream, &format!("HTTP/1.1 200 OK\r\n{head}"), &body);
        });
        let url = format!("http://{address}/file");
        let (code, sums, said) = fetch(&directory, &["--retries", "1", &url]);
        assert_eq!((code, sums.as_str()), (Some(1), ""), "{head}: {said}");
        assert!(listing(&directory).is_empty(), "{head}");
    }
}

/// A body without a length ends when its connection is closed, and not when that is reset.
// Proves: N5-X-fetch.
#[test]
fn a_reset_is_no_end() {
    let directory = directory("a_reset_is_no_end");
    let (address, _) = server(|n, _, stream| {
        raw(stream, "HTTP/1.1 200 OK\r\n", &content(HALF));
        if n == 0 {
            // The sent data is read before the reset is detected, or discarded by it.
            thread::sleep(Duration::from_millis(200));
            set_socket_linger(&*stream, Some(Duration::ZERO)).unwrap();
        }
    });
    let url = format!("http://{address}/file");
    let (code, sums, said) = fetch(&directory, &["--retries", "0", &url]);
    assert_eq!((code, sums.as_str()), (Some(1), ""), "{said}");
    assert!(listing(&directory).is_empty());
    let (code, _, said) = fetch(&directory, &["--retries", "0", &url]);
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::read(directory.join("file")).unwrap() == content(HALF));
}

/// Over TLS, such a body ends with the server's close notification, not with the end of the
/// connection, which a third party on the network can cause.
// Proves: N5-X-fetch.
#[test]
fn a_closed_connection_is_no_end_over_tls() {
    let directory = directory("a_closed_connection_is_no_end_over_tls");
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let ca = directory.with_extension("pem");
    fs::write(&ca, made.cert.pem()).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = ServerConfig::builder().with_no_client_auth();
    let config = config.with_single_cert(vec![made.cert.der().clone()], key);
    let config = Arc::new(config.unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for (n, stream) in listener.incoming().enumerate() {
            let stream = stream.unwrap();
            stream.set_read_timeout(Some(LIMIT)).unwrap();
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            let _ = stream.read(&mut [0; 10_000]);
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            stream.write_all(&content(HALF)).unwrap();
            if n > 0 {
                stream.conn.send_close_notify();
            }
            stream.flush().unwrap();
        }
    });
    let host = "localhost";
    let (ca, url) = (
        ca.display().to_string(),
        format!("https://{host}:{port}/file"),
    );
    let args = ["--retries", "0", "--ca", &ca, &url];
    let (code, sums, said) = fetch(&directory, &args);
    assert_eq!((code, sums.as_str()), (Some(1), ""), "{said}");
    assert!(said.contains("close_notify"), "{said}");
    assert!(listing(&directory).is_empty());
    let (code, _, said) = fetch(&directory, &args);
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::read(directory.join("file")).unwrap() == content(HALF));
}

/// Downloads do not collide with each other, whatever their names, nor with existing files.
// Proves: N5-X-fetch.
#[test]
fn names_do_not_collide() {
    let directory = directory("names_do_not_collide");
    let (address, _) = server(|_, request, stream| {
        let name = request.split(['/', ' ']).nth(2).unwrap();
        let body: Vec<u8> = name.bytes().cycle().take(LEN).collect();
        for piece in [&body[..HALF], &body[HALF..]] {
            match piece.len() {
                HALF => write(stream, "200 OK", "", LEN, piece),
                _ => drop(stream.write_all(piece)),
            }
            thread::sleep(Duration::from_millis(100));
        }
    });
    fs::write(directory.join("b.part"), "mine").unwrap();
    let names = ["a", "a.part", "a.part.part", "b"];
    let long = "n".repeat(255);
    let urls = names.iter().copied().chain([long.as_str()]);
    let urls: Vec<_> = urls
        .map(|name| format!("http://{address}/{name}"))
        .collect();
    let mut args = vec!["--parallel", "5"];
    args.extend(urls.iter().map(String::as_str));
    let (code, _, said) = fetch(&directory, &args);
    assert_eq!(code, Some(0), "{said}");
    for name in names.iter().copied().chain([long.as_str()]) {
        let expected: Vec<u8> = name.bytes().cycle().take(LEN).collect();
        assert!(
            fs::read(directory.join(name)).unwrap() == expected,
            "{name}"
        );
    }
    assert_eq!(
        fs::read_to_string(directory.join("b.part")).unwrap(),
        "mine"
    );
    assert_eq!(listing(&directory).len(), names.len() + 2);
}

/// A program that gets a signal to end fails, and removes incomplete files.
// Proves: N5-X-fetch.
#[test]
fn a_signal_leaves_nothing() {
    let directory = directory("a_signal_leaves_nothing");
    let (address, requests) = server(|_, _, stream| {
        write(stream, "200 OK", "", LEN, &content(HALF));
        // Until the other end has closed.
        let _ = stream.read(&mut [0]);
    });
    let url = format!("http://{address}/file");
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let program = Program::start(&mut command(&directory, &[&url]));
        requests.recv_timeout(LIMIT).unwrap();
        assert_eq!(listing(&directory).len(), 1);
        program.signal(signal);
        assert_eq!(program.end().status.code(), Some(1), "{signal:?}");
        assert!(listing(&directory).is_empty(), "{signal:?}");
    }
}

/// A program that is started by `nohup` goes on when its terminal is gone.
// Proves: N5-X-fetch.
#[test]
fn an_ignored_signal_ends_nothing() {
    let directory = directory("an_ignored_signal_ends_nothing");
    let (go_on, waits) = mpsc::channel();
    let waits = Mutex::new(waits);
    let (address, requests) = server(move |_, _, stream| {
        let _ = waits.lock().unwrap().recv_timeout(LIMIT);
        write(stream, "200 OK", "", 2, b"ok");
    });
    let url = format!("http://{address}/file");
    let fetch = command(&directory, &[&url]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]);
    shell.arg(fetch.get_program()).args(fetch.get_args());
    let program = Program::start(&mut shell);
    requests.recv_timeout(LIMIT).unwrap();
    program.signal(Signal::HUP);
    go_on.send(()).unwrap();
    let ended = program.end();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(listing(&directory), ["file"]);
}

//! `fetch`, with servers that fail in every way, and with openssl as a server of files.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the tests are plain threads"
)]

mod downloads;
mod peers;

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use downloads::{command, content, fetch, listing, server, write};
use peers::{LIMIT, Program, directory, identity, peer, run};

// Proves: N5-X-fetch.
#[test]
fn files_come_whole_and_with_their_sums() {
    let directory = directory("files_come_whole_and_with_their_sums");
    let (address, _) = server(|_, request, stream| {
        let len: usize = request.split(['/', ' ']).nth(2).unwrap().parse().unwrap();
        write(stream, "200 OK", "", len, &content(len));
    });
    let lengths = ["0", "1", "65536", "1000000", "3000001"];
    let urls: Vec<_> = lengths
        .iter()
        .map(|len| format!("http://{address}/{len}"))
        .collect();
    let urls: Vec<_> = urls.iter().map(String::as_str).collect();
    let (code, sums, said) = fetch(&directory, &urls);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(
        listing(&directory),
        ["0", "1", "1000000", "3000001", "65536"]
    );
    for len in lengths {
        let file = fs::read(directory.join(len)).unwrap();
        assert!(file == content(len.parse().unwrap()), "{len}");
    }
    // The sums are as other programs write and read them.
    let Some(mut check) = peer("sha256sum", "coreutils") else {
        return;
    };
    let checked = run(check.args(["--check", "-"]).current_dir(&directory), &sums);
    assert_eq!(checked.matches(": OK").count(), lengths.len(), "{checked}");
}

// Proves: N5-X-fetch.
#[test]
fn what_breaks_off_goes_on_where_it_was() {
    let directory = directory("what_breaks_off_goes_on_where_it_was");
    let whole = content(1_000_000);
    let sent = whole.clone();
    let (address, requests) = server(move |n, _, stream| {
        let tag = "ETag: \"v1\"\r\n";
        let range = "Content-Range: bytes 400000-999999/1000000\r\nETag: \"v1\"\r\n";
        match n {
            0 => write(stream, "200 OK", tag, sent.len(), &sent[..400_000]),
            _ => write(
                stream,
                "206 Partial Content",
                range,
                600_000,
                &sent[400_000..],
            ),
        }
    });
    let (code, _, said) = fetch(&directory, &[&format!("http://{address}/file")]);
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::read(directory.join("file")).unwrap() == whole);
    let requests: Vec<_> = requests.try_iter().map(|r| r.to_lowercase()).collect();
    assert_eq!(requests.len(), 2);
    assert!(!requests[0].contains("range"), "{}", requests[0]);
    assert!(
        requests[1].contains("range: bytes=400000-\r\n"),
        "{}",
        requests[1]
    );
    assert!(
        requests[1].contains("if-range: \"v1\"\r\n"),
        "{}",
        requests[1]
    );
}

// Proves: N5-X-fetch.
#[test]
fn another_version_begins_again() {
    let directory = directory("another_version_begins_again");
    let whole = content(500_000);
    let sent = whole.clone();
    let (address, requests) = server(move |n, _, stream| match n {
        // A version that no longer exists when the rest is requested; then one without a validator.
        0 => write(
            stream,
            "200 OK",
            "ETag: \"v1\"\r\n",
            600_000,
            &[b'x'; 300_000],
        ),
        1 => write(stream, "200 OK", "", sent.len(), &sent[..200_000]),
        _ => write(stream, "200 OK", "", sent.len(), &sent),
    });
    let (code, _, said) = fetch(&directory, &[&format!("http://{address}/file")]);
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::read(directory.join("file")).unwrap() == whole);
    let ranges: Vec<_> = requests.try_iter().map(|r| r.contains("300000-")).collect();
    assert_eq!(ranges, [false, true, false]);
}

/// A body of unknown length may break off behind its last byte.
// Proves: N5-X-fetch.
#[test]
fn what_has_nothing_left_begins_again() {
    let directory = directory("what_has_nothing_left_begins_again");
    let (address, requests) = server(|n, _, stream| match n {
        0 => {
            let head =
                "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nTransfer-Encoding: chunked\r\n\r\n";
            // The end is missing.
            let _ = stream.write_all(format!("{head}5\r\nwhole\r\n").as_bytes());
        }
        1 => {
            let range = "Content-Range: bytes */5\r\n";
            write(stream, "416 Range Not Satisfiable", range, 0, b"");
        }
        _ => write(stream, "200 OK", "ETag: \"v1\"\r\n", 5, b"whole"),
    });
    let (code, _, said) = fetch(&directory, &[&format!("http://{address}/file")]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(fs::read(directory.join("file")).unwrap(), b"whole");
    let ranges: Vec<_> = requests
        .try_iter()
        .map(|r| r.contains("bytes=5-"))
        .collect();
    assert_eq!(ranges, [false, true, false]);
}

// Proves: N5-X-fetch.
#[test]
fn failures_that_pass_are_waited_out() {
    let directory = directory("failures_that_pass_are_waited_out");
    let (address, _) = server(|n, _, stream| match n {
        0 => write(stream, "503 Service Unavailable", "", 0, b""),
        1 => {}
        2 => write(stream, "408 Request Timeout", "", 0, b""),
        3 => write(stream, "429 Too Many Requests", "", 0, b""),
        _ => write(stream, "200 OK", "", 2, b"ok"),
    });
    let url = format!("http://{address}/file");
    let (code, _, said) = fetch(&directory, &["--retries", "4", &url]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(fs::read(directory.join("file")).unwrap(), b"ok");
}

// Proves: N5-X-fetch.
#[test]
fn failures_are_reported_and_leave_nothing() {
    let directory = directory("failures_are_reported_and_leave_nothing");
    let (address, _) = server(|_, request, stream| {
        if request.contains("/missing") {
            write(stream, "404 Not Found", "", 4, b"gone");
        } else if request.contains("/half") {
            write(stream, "200 OK", "", 100_000, &content(50_000));
        } else if request.contains("/garbage") {
            let _ = stream.write_all(b"no HTTP at all\r\n\r\n");
        } else if request.contains("/silent") {
            thread::sleep(LIMIT);
        } else {
            write(stream, "200 OK", "", 2, b"ok");
        }
    });
    // A port without a listener.
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let cases = [
        (format!("http://{address}/missing"), "404 Not Found"),
        (
            format!("http://{address}/half"),
            "broken off after 50000 bytes",
        ),
        (format!("http://{address}/garbage"), "after 2 attempts"),
        (format!("http://{address}/silent"), "timeout"),
        (format!("http://{closed}/file"), "Connection refused"),
        (format!("https://{address}/file"), "after 2 attempts"),
    ];
    for (url, why) in cases {
        let good = format!("http://{address}/good");
        let args = ["--timeout", "1", "--retries", "1", &url, &good];
        let (code, sums, said) = fetch(&directory, &args);
        assert_eq!(code, Some(1), "{url}");
        assert!(said.contains(&url) && said.contains(why), "{said}");
        // The other files have arrived.
        assert!(sums.ends_with("  good\n"), "{sums}");
        assert_eq!(listing(&directory), ["good"], "after {url}");
    }
    let (code, _, said) = fetch(&directory, &["nonsense"]);
    assert!(code == Some(1) && said.contains("nonsense"), "{said}");
    let (code, _, said) =
        fetch(&directory.join("none"), &[&format!("http://{address}/f")]);
    assert!(code == Some(1) && said.contains("cannot create"), "{said}");
}

/// A message that cannot be written does not end the other downloads.
// Proves: N5-X-fetch.
#[test]
fn a_full_standard_error_ends_no_download() {
    let directory = directory("a_full_standard_error_ends_no_download");
    let (address, _) = server(|_, request, stream| match request.contains("/missing") {
        true => write(stream, "404 Not Found", "", 0, b""),
        false => write(stream, "200 OK", "", 2, b"ok"),
    });
    let urls = ["missing", "good"].map(|name| format!("http://{address}/{name}"));
    let args = ["--parallel", "1", &urls[0], &urls[1]];
    let full = File::options().write(true).open("/dev/full").unwrap();
    let ended = command(&directory, &args).stderr(full).output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stdout.ends_with(b"  good\n"), "{ended:?}");
    assert_eq!(listing(&directory), ["good"]);
}

/// If the sum of a file cannot be printed, the program fails, and removes incomplete files.
// Proves: N5-X-fetch.
#[test]
fn a_full_standard_output_leaves_nothing() {
    let directory = directory("a_full_standard_output_leaves_nothing");
    // One download is complete when all others are in the middle.
    let others = 8;
    let begun = Barrier::new(others + 1);
    let (address, _) = server(move |_, request, stream| {
        begun.wait();
        if request.contains("/good") {
            write(stream, "200 OK", "", 2, b"ok");
        } else {
            write(stream, "200 OK", "", 100_000, &content(50_000));
            // Until the other end has closed.
            let _ = stream.read(&mut [0]);
        }
    });
    let names = (0..others)
        .map(|n| n.to_string())
        .chain(["good".to_owned()]);
    let urls: Vec<_> = names
        .map(|name| format!("http://{address}/{name}"))
        .collect();
    let mut args = vec!["--parallel", "9"];
    args.extend(urls.iter().map(String::as_str));
    let full = File::options().write(true).open("/dev/full").unwrap();
    let ended = command(&directory, &args).stdout(full).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot write to standard output"), "{said}");
    assert_eq!(listing(&directory), ["good"]);
}

// Proves: N5-X-fetch.
#[test]
fn as_many_at_once_as_may() {
    let directory = directory("as_many_at_once_as_may");
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (inside, highest) = (Arc::clone(&now), Arc::clone(&most));
    let (address, _) = server(move |_, _, stream| {
        highest.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let start = Instant::now();
        while highest.load(Ordering::SeqCst) < 3 && start.elapsed() < LIMIT {
            thread::sleep(Duration::from_millis(1));
        }
        // Time for a fourth one to arrive.
        thread::sleep(Duration::from_millis(20));
        inside.fetch_sub(1, Ordering::SeqCst);
        write(stream, "200 OK", "", 2, b"ok");
    });
    let urls: Vec<_> = (0..10).map(|n| format!("http://{address}/{n}")).collect();
    let mut args = vec!["--parallel", "3"];
    args.extend(urls.iter().map(String::as_str));
    let (code, _, said) = fetch(&directory, &args);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(listing(&directory).len(), 10);
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

// Proves: N5-X-fetch.
#[test]
fn openssl_serves_files_over_tls() {
    let directory = directory("openssl_serves_files_over_tls");
    let Some((cert, key)) = identity(&directory) else {
        return;
    };
    let Some(mut openssl) = peer("openssl", "openssl") else {
        return;
    };
    let served = directory.join("served");
    fs::create_dir(&served).unwrap();
    let whole = content(500_000);
    fs::write(served.join("file"), &whole).unwrap();
    openssl
        .args(["s_server", "-WWW", "-accept", "127.0.0.1:0", "-cert"])
        .arg(&cert)
        .arg("-key")
        .arg(&key);
    let mut openssl = Program::start(openssl.current_dir(&served));
    let port: u16 = loop {
        let line = openssl.line();
        if let Some(address) = line.strip_prefix("ACCEPT 127.0.0.1:") {
            break address.parse().unwrap();
        }
    };
    let host = "localhost";
    let url = format!("https://{host}:{port}/file");
    let ca = cert.display().to_string();
    let (code, _, said) = fetch(&directory, &["--ca", &ca, &url]);
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::read(directory.join("file")).unwrap() == whole);
    // That certificate is not signed by a known authority.
    let (code, _, said) = fetch(&directory, &[&url]);
    assert!(code == Some(1) && said.contains("certificate"), "{said}");
}

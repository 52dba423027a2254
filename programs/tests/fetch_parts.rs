//! `fetch` with servers that send parts without a request, of other versions or of other lengths:
//! a file is right, or the program fails and leaves nothing.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the tests are plain threads"
)]

mod downloads;
mod peers;

use std::fs;
use std::thread;

use downloads::{chunked, content, fetch, listing, raw, server, write};
use peers::directory;

/// The length of the first version of the file, and how much of it comes at first.
const LEN: usize = 100_000;
const HALF: usize = 40_000;

const TAG: &str = "ETag: \"v1\"\r\n";

/// The answer of a server to the request for the rest: everything behind the status line.
type Rest = (&'static str, Vec<u8>);

/// Parts that do not continue the received bytes, as head and body.
fn parts_that_do_not_fit() -> Vec<Rest> {
    let body = vec![b'y'; LEN - HALF];
    let part = |head| (head, body.clone());
    let of = |len: usize| vec![b'y'; len];
    vec![
        part("Content-Length: 60000\r\nETag: \"v1\"\r\n"),
        part(
            "Content-Length: 60000\r\nContent-Range: bytes 40000-99999\r\nETag: \"v1\"\r\n",
        ),
        part(
            "Content-Length: 60000\r\nContent-Range: lines 40000-99999/100000\r\nETag: \"v1\"\r\n",
        ),
        part(
            "Content-Length: 60000\r\nContent-Range: bytes 99999-40000/100000\r\nETag: \"v1\"\r\n",
        ),
        part(
            "Content-Length: 60000\r\nContent-Range: bytes 30000-89999/100000\r\nETag: \"v1\"\r\n",
        ),
        part(
            "Content-Length: 60000\r\nContent-Range: bytes 40001-100000/100001\r\nETag: \"v1\"\r\n",
        ),
        // Another total length, with the end of the one or of the other.
        part(
            "Content-Length: 60000\r\nContent-Range: bytes 40000-99999/100001\r\nETag: \"v1\"\r\n",
        ),
        (
            "Content-Length: 50000\r\nContent-Range: bytes 40000-89999/90000\r\nETag: \"v1\"\r\n",
            of(50_000),
        ),
        (
            "Content-Length: 70000\r\nContent-Range: bytes 40000-109999/*\r\nETag: \"v1\"\r\n",
            of(70_000),
        ),
        // Two ranges, and one that begins at the right byte.
        part(
            "Content-Length: 60000\r\nContent-Range: bytes 40000-99999/100000\r\nContent-Range: bytes 0-59999/100000\r\nETag: \"v1\"\r\n",
        ),
        // Another version, and none.
        part(
            "Content-Length: 60000\r\nContent-Range: bytes 40000-99999/100000\r\nETag: \"v2\"\r\n",
        ),
        part(
            "Content-Length: 60000\r\nContent-Range: bytes 40000-99999/100000\r\nETag: W/\"v1\"\r\n",
        ),
        part(
            "Content-Length: 60000\r\nContent-Range: bytes 40000-99999/100000\r\nETag: \"v1\"\r\nETag: \"v2\"\r\n",
        ),
        part("Content-Length: 60000\r\nContent-Range: bytes 40000-99999/100000\r\n"),
        // More or fewer bytes than the range has.
        (
            "Content-Length: 50000\r\nContent-Range: bytes 40000-99999/100000\r\nETag: \"v1\"\r\n",
            of(50_000),
        ),
        (
            "Content-Length: 70000\r\nContent-Range: bytes 40000-99999/100000\r\nETag: \"v1\"\r\n",
            of(70_000),
        ),
        (
            "Transfer-Encoding: chunked\r\nContent-Range: bytes 40000-99999/100000\r\nETag: \"v1\"\r\n",
            chunked(&of(70_000)),
        ),
        (
            "Content-Range: bytes 40000-99999/100000\r\nETag: \"v1\"\r\n",
            of(70_000),
        ),
    ]
}

/// A joined file is of one version and complete: otherwise it is restarted, or there is none.
// Proves: N5-X-fetch.
#[test]
fn parts_that_do_not_fit_are_thrown_away() {
    // Each run pauses before it tries again.
    thread::scope(|scope| {
        for (case, (head, body)) in parts_that_do_not_fit().into_iter().enumerate() {
            scope.spawn(move || thrown_away(case, head, body));
        }
    });
}

fn thrown_away(case: usize, head: &str, body: Vec<u8>) {
    let directory = directory(&format!("parts_that_do_not_fit/{case}"));
    let now = content(90_001);
    let (sent, status) = (
        now.clone(),
        format!("HTTP/1.1 206 Partial Content\r\n{head}"),
    );
    let (address, requests) = server(move |n, _, stream| match n % 3 {
        0 => write(stream, "200 OK", TAG, LEN, &[b'x'; HALF]),
        1 => raw(stream, &status, &body),
        _ => write(stream, "200 OK", "ETag: \"v3\"\r\n", sent.len(), &sent),
    });
    let url = format!("http://{address}/file");
    let (code, _, said) = fetch(&directory, &[&url]);
    assert_eq!(code, Some(0), "{head}: {said}");
    assert!(fs::read(directory.join("file")).unwrap() == now, "{head}");
    let requests: Vec<_> = requests.try_iter().map(|r| r.to_lowercase()).collect();
    let asked: Vec<_> = requests.iter().map(|r| r.contains("range:")).collect();
    assert_eq!(asked, [false, true, false], "{head}");
    fs::remove_file(directory.join("file")).unwrap();
    // With no attempt left for a complete one, there is none.
    let (code, sums, said) = fetch(&directory, &["--retries", "1", &url]);
    assert_eq!((code, sums.as_str()), (Some(1), ""), "{head}: {said}");
    assert!(listing(&directory).is_empty(), "{head}");
}

/// Fewer bytes than the range has are a truncated part, which is resumed.
// Proves: N5-X-fetch.
#[test]
fn a_part_that_breaks_off_goes_on() {
    let directory = directory("a_part_that_breaks_off_goes_on");
    let whole = content(LEN);
    let sent = whole.clone();
    let (address, requests) = server(move |n, _, stream| {
        let range = |from| {
            format!(
                "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {from}-99999/100000\r\n\
                 Transfer-Encoding: chunked\r\n{TAG}"
            )
        };
        match n {
            0 => write(stream, "200 OK", TAG, LEN, &sent[..HALF]),
            1 => raw(stream, &range(40_000), &chunked(&sent[HALF..70_000])),
            _ => raw(stream, &range(70_000), &chunked(&sent[70_000..])),
        }
    });
    let (code, _, said) = fetch(&directory, &[&format!("http://{address}/file")]);
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::read(directory.join("file")).unwrap() == whole);
    let requests: Vec<_> = requests.try_iter().collect();
    assert!(requests[2].contains("bytes=70000-\r\n"), "{}", requests[2]);
}

/// A server may send less than requested, and need not give the length of the file.
// Proves: N5-X-fetch.
#[test]
fn shorter_parts_are_completed() {
    let directory = directory("shorter_parts_are_completed");
    let whole = content(LEN);
    let sent = whole.clone();
    let (address, requests) = server(move |n, _, stream| {
        let mut part = |from: usize, to: usize, of: &str| {
            let range = format!("Content-Range: bytes {from}-{}/{of}\r\n{TAG}", to - 1);
            write(
                stream,
                "206 Partial Content",
                &range,
                to - from,
                &sent[from..to],
            );
        };
        match n {
            0 => write(stream, "200 OK", TAG, LEN, &sent[..HALF]),
            1 => part(40_000, 40_001, "100000"),
            2 => part(40_001, 70_000, "*"),
            _ => part(70_000, LEN, "*"),
        }
    });
    // One retry, for the truncated part.
    let url = format!("http://{address}/file");
    let (code, _, said) = fetch(&directory, &["--retries", "1", &url]);
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::read(directory.join("file")).unwrap() == whole);
    assert_eq!(requests.try_iter().count(), 4);
}

/// A date identifies a version if there is no tag and it is well before the answer.
// Proves: N5-X-fetch.
#[test]
fn dates_name_versions_that_have_rested() {
    const OLD: &str = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    const LATER: &str = "Date: Sun, 06 Nov 1994 08:51:00 GMT\r\n";
    const SOON: &str = "Date: Sun, 06 Nov 1994 08:49:38 GMT\r\n";
    // The head of the first answer, that of the part, and whether the file is resumed.
    let cases = [
        (format!("{OLD}{LATER}"), Some(OLD.to_owned())),
        (format!("{OLD}{SOON}"), None),
        (OLD.to_owned(), None),
        (format!("{OLD}{LATER}ETag: W/\"v1\"\r\n"), None),
        (format!("{OLD}{LATER}ETag: \"a\"\r\nETag: \"b\"\r\n"), None),
    ];
    for (case, (head, part)) in cases.into_iter().enumerate() {
        let directory = directory(&format!("dates_name_versions/{case}"));
        let whole = content(LEN);
        let (sent, first) = (whole.clone(), head.clone());
        let (address, requests) = server(move |n, request, stream| {
            let asked = request.to_lowercase().contains("range: bytes=40000-");
            match &part {
                _ if n == 0 => write(stream, "200 OK", &first, LEN, &sent[..HALF]),
                Some(date) if asked => {
                    let range =
                        format!("Content-Range: bytes 40000-99999/100000\r\n{date}");
                    write(
                        stream,
                        "206 Partial Content",
                        &range,
                        LEN - HALF,
                        &sent[HALF..],
                    );
                }
                _ => write(stream, "200 OK", "", LEN, &sent),
            }
        });
        let (code, _, said) = fetch(&directory, &[&format!("http://{address}/file")]);
        assert_eq!(code, Some(0), "{head}: {said}");
        assert!(fs::read(directory.join("file")).unwrap() == whole, "{head}");
        let requests: Vec<_> = requests.try_iter().map(|r| r.to_lowercase()).collect();
        assert_eq!(requests.len(), 2, "{head}");
        let condition = "if-range: sun, 06 nov 1994 08:49:37 gmt\r\n";
        assert_eq!(
            requests[1].contains(condition),
            case == 0,
            "{}",
            requests[1]
        );
        assert_eq!(
            requests[1].contains("\r\nrange:"),
            case == 0,
            "{}",
            requests[1]
        );
    }
}

/// A part with another date, without one, or from another place, is of another version.
// Proves: N5-X-fetch.
#[test]
fn parts_from_elsewhere_are_thrown_away() {
    const HEAD: &str = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
                        Date: Sun, 06 Nov 1994 09:00:00 GMT\r\n";
    for case in ["another date", "no date", "a tag", "elsewhere"] {
        let directory =
            directory(&format!("parts_from_elsewhere/{}", case.replace(' ', "_")));
        let now = content(LEN + 1);
        let sent = now.clone();
        let (address, _) = server(move |n, request, stream| {
            let mut part = |head: &str| {
                let range = format!("Content-Range: bytes 40000-99999/100000\r\n{head}");
                let rest = [b'y'; LEN - HALF];
                write(stream, "206 Partial Content", &range, LEN - HALF, &rest);
            };
            match case {
                _ if n == 0 && case != "elsewhere" => {
                    write(stream, "200 OK", HEAD, LEN, &[b'x'; HALF]);
                }
                "another date" if n == 1 => {
                    part("Last-Modified: Mon, 07 Nov 1994 08:49:37 GMT\r\n");
                }
                "no date" if n == 1 => part(""),
                "a tag" if n == 1 => {
                    part(
                        "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: \"v2\"\r\n",
                    );
                }
                // Two mirrors that use the same tag for their files.
                "elsewhere" if request.contains("/one") => {
                    write(stream, "200 OK", TAG, LEN, &[b'x'; HALF]);
                }
                "elsewhere" if request.contains("/two") => part(TAG),
                "elsewhere" if n == 0 => {
                    write(stream, "302 Found", "Location: /one\r\n", 0, b"");
                }
                "elsewhere" if n == 2 => {
                    write(stream, "302 Found", "Location: /two\r\n", 0, b"");
                }
                _ => write(stream, "200 OK", "", sent.len(), &sent),
            }
        });
        let (code, _, said) = fetch(&directory, &[&format!("http://{address}/file")]);
        assert_eq!(code, Some(0), "{case}: {said}");
        assert!(fs::read(directory.join("file")).unwrap() == now, "{case}");
    }
}

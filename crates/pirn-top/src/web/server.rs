//! The server of the page: four addresses, read only, by GET and HEAD.
//!
//! | address | answer |
//! |---|---|
//! | `/` | the page |
//! | `/about` | the source of the answers, as JSON |
//! | `/snapshot`, `/snapshot?n=N` | a snapshot, or the one with this index in a recording, as the runtime wrote it |
//! | `/fiber?id=ID` | one fiber with its frames |
//!
//! All need `token=TOKEN` in the query. It reads the head of one request of each connection, and
//! nothing of what follows it. Any user of the machine can connect, so a connection has a bounded
//! head, time and memory before its token is known, and their number is bounded.

#![expect(
    clippy::disallowed_methods,
    reason = "a program of plain threads, which looks at others' fibers"
)]

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::page::PAGE;
use super::source::Source;
use super::token::Token;
use crate::wire::Failure;

/// Maximum number of connections; others are closed. Arbitrary: a page has one or two.
const MOST_CONNECTIONS: usize = 32;
/// Maximum time for the head of a request, and for a part of the answer.
const LIMIT: Duration = Duration::from_secs(5);
/// Maximum bytes of a head: browsers send less than one KiB.
const LONGEST_HEAD: usize = 16 << 10;
/// Interval between two attempts to accept when the process has no descriptor left.
const PAUSE: Duration = Duration::from_millis(50);

/// Content security policy: the page loads nothing from other servers, and sends nothing to them.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; \
     style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

struct Server {
    source: Arc<Source>,
    token: Token,
}

/// The answer to a request.
struct Answer {
    status: &'static str,
    kind: &'static str,
    /// Further lines of the head, each with its end.
    more: &'static str,
    body: Arc<[u8]>,
}

/// Serves on a loopback address, by threads that end with the process. Returns the URL of the page.
///
/// # Errors
/// The system's error, with the address.
pub(super) fn serve(address: SocketAddr, source: Arc<Source>) -> io::Result<String> {
    let named = |error: io::Error| {
        io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"))
    };
    let token = Token::new()?;
    let listener = TcpListener::bind(address).map_err(named)?;
    let url = format!("http://{}/?token={token}", listener.local_addr()?);
    let server = Arc::new(Server { source, token });
    let accept = move || accept(&listener, &server);
    thread::Builder::new()
        .name("accept".to_owned())
        .spawn(accept)?;
    Ok(url)
}

fn accept(listener: &TcpListener, server: &Arc<Server>) {
    // A clone for each connection: only this thread makes them.
    let connections = Arc::new(());
    loop {
        let Ok((stream, _)) = listener.accept() else {
            thread::sleep(PAUSE);
            continue;
        };
        if Arc::strong_count(&connections) > MOST_CONNECTIONS {
            continue;
        }
        let (connection, server) = (Arc::clone(&connections), Arc::clone(server));
        let converse = move || {
            // A client that breaks off needs no answer.
            let _ = server.converse(&stream);
            drop(connection);
        };
        // Without a thread the connection is closed, and the page tries again.
        let _ = thread::Builder::new()
            .name("request".to_owned())
            .spawn(converse);
    }
}

impl Server {
    fn converse(&self, mut stream: &TcpStream) -> io::Result<()> {
        let request = head(stream)?;
        let answer = self.answer(&request);
        let (status, kind, length) = (answer.status, answer.kind, answer.body.len());
        let more = answer.more;
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\
             Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\n\
             Connection: close\r\n\r\n"
        );
        stream.set_write_timeout(Some(LIMIT))?;
        stream.write_all(head.as_bytes())?;
        if !request.starts_with(b"HEAD ") {
            stream.write_all(&answer.body)?;
        }
        // A close with unread bytes would reset the connection before the client has read.
        stream.shutdown(Shutdown::Write)?;
        let until = Instant::now() + LIMIT;
        let mut rest = [0; 4_096];
        while read_until(stream, &mut rest, until)? > 0 {}
        Ok(())
    }

    fn answer(&self, head: &[u8]) -> Answer {
        let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let words: Vec<_> = line.split(' ').collect();
        let [method, target, version] = words[..] else {
            return text("400 Bad Request", "the first line is not one of HTTP");
        };
        if !version.starts_with("HTTP/1.") {
            return text("400 Bad Request", "this server speaks HTTP 1.1 only");
        }
        let target = without_server(target);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if !self.token.is_in(query) {
            let said = "the token is missing or wrong: use the URL that pirn-top printed";
            return text("403 Forbidden", said);
        }
        if !matches!(method, "GET" | "HEAD") {
            let said = "only GET and HEAD: this server changes nothing";
            return Answer {
                more: "Allow: GET, HEAD\r\n",
                ..text("405 Method Not Allowed", said)
            };
        }
        let value = |name: &str| {
            let mut parts = query.split('&').filter_map(|part| part.split_once('='));
            parts.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        match path {
            "" | "/" => found("text/html; charset=utf-8", PAGE.as_bytes().into()),
            "/about" => {
                found("application/json", self.source.about().into_bytes().into())
            }
            "/snapshot" => match value("n").unwrap_or("0").parse() {
                Ok(index) => lines(self.source.snapshot(index)),
                Err(_) => not_a_number("n", value("n")),
            },
            "/fiber" => match value("id").unwrap_or_default().parse() {
                Ok(id) => lines(self.source.fiber(id)),
                Err(_) => not_a_number("id", value("id")),
            },
            _ => text("404 Not Found", "there is no such page"),
        }
    }
}

/// Returns the path and the query of a target, which may be a whole URL, as for a proxy (RFC 9112,
/// section 3.2.2).
fn without_server(target: &str) -> &str {
    match target.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => {
            let server = rest.find(['/', '?']).unwrap_or(rest.len());
            &rest[server..]
        }
        _ => target,
    }
}

/// Reads a request up to the empty line.
fn head(stream: &TcpStream) -> io::Result<Vec<u8>> {
    let until = Instant::now() + LIMIT;
    let mut head = Vec::new();
    let mut part = [0; 1_024];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        let read = read_until(stream, &mut part, until)?;
        if read == 0 || head.len() + read > LONGEST_HEAD {
            return Err(ErrorKind::InvalidData.into());
        }
        head.extend_from_slice(&part[..read]);
    }
    Ok(head)
}

/// Reads a part, or fails at the time `until`, however slowly the client sends.
fn read_until(
    mut stream: &TcpStream,
    part: &mut [u8],
    until: Instant,
) -> io::Result<usize> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(ErrorKind::TimedOut.into());
    }
    stream.set_read_timeout(Some(left))?;
    stream.read(part)
}

/// Returns the lines of the runtime, or why there are none.
fn lines(answer: Result<Arc<[u8]>, Failure>) -> Answer {
    match answer {
        Ok(body) => found("application/x-ndjson", body),
        Err(failure @ Failure::Recording(_)) => {
            text("404 Not Found", &failure.to_string())
        }
        Err(failure) => text("502 Bad Gateway", &failure.to_string()),
    }
}

fn found(kind: &'static str, body: Arc<[u8]>) -> Answer {
    Answer {
        status: "200 OK",
        kind,
        more: "",
        body,
    }
}

fn not_a_number(name: &str, value: Option<&str>) -> Answer {
    let value = value.unwrap_or_default();
    text(
        "400 Bad Request",
        &format!("`{name}={value}` is not a number"),
    )
}

fn text(status: &'static str, said: &str) -> Answer {
    Answer {
        status,
        kind: "text/plain; charset=utf-8",
        more: "",
        body: said.as_bytes().into(),
    }
}

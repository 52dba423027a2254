//! The server of the page: four addresses, read only.
//!
//! | address | answer |
//! |---|---|
//! | `/` | the page |
//! | `/about` | the source of the answers, as JSON |
//! | `/snapshot`, `/snapshot?n=N` | a snapshot, or the one of this number in a recording, as the runtime wrote it |
//! | `/fiber?id=ID` | one fiber with its frames |
//!
//! All need `token=TOKEN` in the query. Each request is answered by a thread of its own, so a client
//! that reads slowly delays no other.

#![expect(
    clippy::disallowed_methods,
    reason = "a program of plain threads, which looks at others' fibers"
)]

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tiny_http::{Header, Method, Request, Response};

use super::page::PAGE;
use super::source::Source;
use super::token::Token;
use crate::wire::Failure;

/// The most requests that are answered at once; more are refused. Arbitrary: a page sends one or
/// two.
const MOST_REQUESTS: usize = 32;

/// What the page may do: nothing that comes from elsewhere, nothing sent elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; \
     style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

const TEXT: &str = "text/plain; charset=utf-8";

/// The server.
pub(super) struct Server {
    http: tiny_http::Server,
    shared: Arc<Shared>,
    /// The address in a browser.
    pub(super) url: String,
}

struct Shared {
    source: Arc<Source>,
    token: Token,
    /// Requests that are being answered.
    requests: AtomicUsize,
}

/// The answer to a request.
struct Answer {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
}

impl Server {
    /// Listens on a loopback address.
    ///
    /// # Errors
    /// The system's error, with the address.
    pub(super) fn listen(address: SocketAddr, source: Arc<Source>) -> io::Result<Server> {
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"))
        };
        let token = Token::new()?;
        let listener = TcpListener::bind(address).map_err(named)?;
        let url = format!("http://{}/?token={token}", listener.local_addr()?);
        let http = tiny_http::Server::from_listener(listener, None);
        let shared = Shared {
            source,
            token,
            requests: AtomicUsize::new(0),
        };
        Ok(Server {
            http: http.map_err(|error| io::Error::other(error.to_string()))?,
            shared: Arc::new(shared),
            url,
        })
    }

    /// Answers requests for this long.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn serve_for(&self, limit: Duration) -> io::Result<()> {
        let Some(request) = self.http.recv_timeout(limit)? else {
            return Ok(());
        };
        let shared = Arc::clone(&self.shared);
        if shared.requests.fetch_add(1, Ordering::Relaxed) >= MOST_REQUESTS {
            shared.requests.fetch_sub(1, Ordering::Relaxed);
            respond(request, text(503, "too many requests at once; try again"));
            return Ok(());
        }
        let answer = move || {
            let answer = shared.answer(&request);
            respond(request, answer);
            shared.requests.fetch_sub(1, Ordering::Relaxed);
        };
        thread::Builder::new()
            .name("request".to_owned())
            .spawn(answer)?;
        Ok(())
    }
}

impl Shared {
    fn answer(&self, request: &Request) -> Answer {
        let (path, query) = request.url().split_once('?').unwrap_or((request.url(), ""));
        if *request.method() != Method::Get {
            return text(405, "only GET: this server changes nothing");
        }
        if !self.token.is_in(query) {
            let said =
                "the token is missing or wrong: use the address that pirn-top printed";
            return text(403, said);
        }
        let number = |name: &str| -> Option<u64> {
            let mut parts = query.split('&').filter_map(|part| part.split_once('='));
            parts.find(|(key, _)| *key == name)?.1.parse().ok()
        };
        match path {
            "/" => Answer {
                status: 200,
                kind: "text/html; charset=utf-8",
                body: PAGE.into(),
            },
            "/about" => Answer {
                status: 200,
                kind: "application/json",
                body: self.source.about().into(),
            },
            "/snapshot" => {
                let number = number("n").and_then(|n| usize::try_from(n).ok());
                lines(self.source.snapshot(number.unwrap_or(0)))
            }
            "/fiber" => match number("id") {
                Some(id) => lines(self.source.fiber(id)),
                None => text(400, "`id` is not a number"),
            },
            _ => text(404, "there is no such page"),
        }
    }
}

/// The lines of the runtime, or why there are none.
fn lines(found: Result<Option<Arc<[u8]>>, Failure>) -> Answer {
    match found {
        Ok(Some(body)) => Answer {
            status: 200,
            kind: "application/x-ndjson",
            body: body.to_vec(),
        },
        Ok(None) => text(404, "the recording does not have it"),
        Err(failure) => text(502, &failure.to_string()),
    }
}

fn text(status: u16, said: &str) -> Answer {
    Answer {
        status,
        kind: TEXT,
        body: said.into(),
    }
}

/// Sends the answer. A client that has left needs none.
fn respond(request: Request, answer: Answer) {
    let headers = [
        ("Content-Type", answer.kind),
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cache-Control", "no-store"),
    ];
    let mut response = Response::from_data(answer.body).with_status_code(answer.status);
    for (name, value) in headers {
        let header = Header::from_bytes(name, value);
        response.add_header(header.expect("a header of plain text"));
    }
    let _ = request.respond(response);
}

//! One request: to a backend, and the answer back.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use http_body_util::{Either, Empty};
use hyper::body::{Body as _, Incoming};
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use pirn_programs::log;

use crate::answer::Answer;
use crate::backend::{Backend, Failure, Sent};
use crate::metrics;

/// The time limits of a request.
#[derive(Debug, Copy, Clone)]
pub(crate) struct Limits {
    /// For its turn at a backend.
    pub(crate) wait: Duration,
    /// For the head of the answer.
    pub(crate) answer: Duration,
}

/// All backends, and the counters.
#[derive(Debug)]
pub(crate) struct Proxy {
    backends: Vec<Arc<Backend>>,
    limits: Limits,
    /// The backend with which the next search begins.
    next: AtomicUsize,
    /// The numbers of answers by the first digit of their status, from 1 on.
    pub(crate) answers: [AtomicU64; 5],
}

impl Proxy {
    pub(crate) fn new(to: &[SocketAddr], at_once: usize, limits: Limits) -> Proxy {
        let backend = |address: &SocketAddr| Backend::new(*address, at_once);
        Proxy {
            backends: to.iter().map(backend).collect(),
            limits,
            next: AtomicUsize::new(0),
            answers: Default::default(),
        }
    }

    pub(crate) fn backends(&self) -> &[Arc<Backend>] {
        &self.backends
    }

    /// Returns the answer to a request of the client with this address.
    pub(crate) fn answer(
        &self,
        request: Request<Incoming>,
        client: IpAddr,
    ) -> Response<Answer> {
        let answer = match request.uri().path() {
            metrics::PATH if client.is_loopback() => metrics::page(self),
            _ => self.forward(request, client),
        };
        let class = usize::from(answer.status().as_u16() / 100);
        if let Some(count) = self.answers.get(class.wrapping_sub(1)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }

    /// Asks one backend after the other, until one has answered or may have received the request.
    /// A request that may be repeated goes to the next one in this case, too.
    fn forward(&self, request: Request<Incoming>, client: IpAddr) -> Response<Answer> {
        if request.headers().get_all(HOST).iter().count() != 1 {
            return Answer::status(400, "one Host is needed");
        }
        let (mut head, body) = request.into_parts();
        if head.method == Method::CONNECT {
            return Answer::status(405, "this proxy opens no tunnels");
        }
        if let Some(authority) = head.uri.authority()
            && let Ok(host) = HeaderValue::from_str(authority.as_str())
        {
            head.headers.insert(HOST, host);
        }
        pass_on(&mut head.headers);
        add_client(&mut head.headers, client);
        let may_repeat = body.is_end_stream() && is_idempotent(&head.method);
        let mut request = build(&head, Either::Left(body));
        let mut tried = Vec::new();
        loop {
            let Some(backend) = self.choose(&tried) else {
                return match tried.is_empty() {
                    true => Answer::status(503, "no server is up"),
                    false => Answer::status(502, "no server has answered"),
                };
            };
            let Some(turn) = backend.turn(self.limits.wait) else {
                let mut answer = Answer::status(503, "all servers are busy");
                let headers = answer.headers_mut();
                headers.insert("retry-after", HeaderValue::from_static("1"));
                return answer;
            };
            let asked = backend.ask(request, self.limits.answer);
            if asked.is_err() && pirn::cancel::check().is_err() {
                // Says nothing about the backend, and nothing reads it.
                return Answer::status(503, "the client has left");
            }
            match asked {
                Ok((response, _))
                    if response.status() == StatusCode::SWITCHING_PROTOCOLS =>
                {
                    return Answer::status(502, "the server switches protocols");
                }
                Err(Failure::Wrong(error)) => {
                    log(format_args!("{}: {error:#}", backend.address));
                    return Answer::status(502, "the server has sent no answer of HTTP");
                }
                Ok((response, connection)) => {
                    let mut response = response.map(|body| {
                        Answer::passed(body, connection, Arc::clone(&backend), turn)
                    });
                    pass_on(response.headers_mut());
                    return response;
                }
                Err(Failure::Late) => {
                    return Answer::status(504, "no answer in time");
                }
                Err(Failure::Unsent(unsent, error)) => {
                    backend.set_up(Err(&error));
                    request = *unsent;
                }
                Err(Failure::Lost(error)) if may_repeat => {
                    backend.set_up(Err(&error));
                    request = build(&head, Either::Right(Empty::new()));
                }
                Err(Failure::Lost(error)) => {
                    backend.set_up(Err(&error));
                    return Answer::status(502, "the connection to the server was lost");
                }
            }
            tried.push(backend.address);
        }
    }

    /// Returns a backend that is up and was not `tried`: in turn, those with a free place first.
    fn choose(&self, tried: &[SocketAddr]) -> Option<Arc<Backend>> {
        let start = self.next.fetch_add(1, Ordering::Relaxed) % self.backends.len();
        let (before, from) = self.backends.split_at(start);
        let is_open = |backend: &&Arc<Backend>| {
            backend.is_up() && !tried.contains(&backend.address)
        };
        let open = || from.iter().chain(before).filter(is_open);
        let free = open().find(|backend| backend.free() > 0);
        free.or_else(|| open().next()).cloned()
    }
}

/// Builds a request with this head, for the path alone.
fn build(head: &Parts, body: Sent) -> Request<Sent> {
    let mut request = Request::new(body);
    *request.method_mut() = head.method.clone();
    *request.uri_mut() = head
        .uri
        .path_and_query()
        .cloned()
        .map_or_else(Uri::default, Uri::from);
    *request.headers_mut() = head.headers.clone();
    *request.version_mut() = Version::HTTP_11;
    request
}

/// True if a request may be sent twice (RFC 9110, 9.2.2).
fn is_idempotent(method: &Method) -> bool {
    [
        Method::GET,
        Method::HEAD,
        Method::OPTIONS,
        Method::TRACE,
        Method::PUT,
        Method::DELETE,
    ]
    .contains(method)
}

/// Removes the headers that are for one connection only (RFC 9110, 7.6.1).
fn pass_on(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        // These are of the request itself, whatever the client says.
        .filter(|name| *name != HOST && *name != CONTENT_LENGTH)
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in ONE_CONNECTION {
        headers.remove(*name);
    }
}

/// Adds the client's address to those that other proxies have added.
fn add_client(headers: &mut HeaderMap, client: IpAddr) {
    let before: Vec<&str> = headers
        .get_all(FORWARDED)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    let mut all = before.join(", ");
    if !all.is_empty() {
        all.push_str(", ");
    }
    all.push_str(&client.to_string());
    if let Ok(value) = HeaderValue::from_str(&all) {
        headers.insert(FORWARDED, value);
    }
}

const FORWARDED: &str = "x-forwarded-for";

/// Headers for one connection only. hyper writes `transfer-encoding` anew.
const ONE_CONNECTION: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
